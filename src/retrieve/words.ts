/**
 * Words that carry no need, or little: English function words, the words in which people ask, everyday words.
 *
 * Separate sets, so that each can be left in: a need made of nothing else is searched as it stands.
 */
import { stem } from "./stem.js";

/** Function words. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an the this that these those there here and or but if then so than too very just also both each any all some such no not nor only own same more most " +
    "of in on at to from for with by as into onto about over under between through during before after up down out off again per via " +
    "is are was were be been being am do does did doing done have has had having will would shall should may might must can could " +
    "i me my mine we us our ours you your yours he him his she her hers it its they them their theirs who whom whose which what when where why how " +
    "ve ll re don doesn didn isn aren wasn won couldn wouldn shouldn let"
  ).split(" "),
);

/** Words of asking rather than of the thing asked for. */
export const REQUEST_WORDS: ReadonlySet<string> = new Set(
  (
    "please need needs want wants wanted like help helps helping use using used give gives tell tells show looking look " +
    "sure thanks thank hi hello hey kindly wondering wonder know could interested trying try able love able me possible some " +
    "provide assist assistance"
  ).split(" "),
);

/**
 * Stems of everyday English: words that may be rare in a small catalog without saying anything there. They count, but their
 * rarity is capped (score.ts).
 */
export const EVERYDAY_TERMS: ReadonlySet<string> = new Set(
  (
    "able actual actually additional additionally again ahead almost alone along already also although always among amazing another anyone " +
    "anything anyway around aspect attempt available away bad basic basically beautiful become begin beginner believe benefit besides best better big " +
    "bit bring busy came care carefully case cause certain certainly chance clear clearly close come comfortable common complete completely " +
    "comprehensive concern consider contain correct couple course crucial curious currently deal decide deep definitely depend desire " +
    "detailed different difficult direct directly easily easy effective effectively efficient efficiently either else enough ensure especially " +
    "essential etc even ever every everyone everything exact exactly excellent excited exciting expect experience explain explore extra " +
    "extremely fairly familiar famous far fast favorite feel final finally fine first focus follow following form former forward free fresh " +
    "fun further furthermore future general generally getting given glad goal going good great half hand happen happy hard heard high highly " +
    "honest hope idea ideal imagine impact important improve include including increase instead interesting involve itself keep key kind large " +
    "last lately later lead learn least leave less likely limited little long longer lot love low main mainly major many matter maybe mean meaningful " +
    "means mention mind moment moreover mostly multiple necessary nearly never new nice normal notable nothing now numerous obvious often old once " +
    "opinion opportunity original otherwise overall part particular particularly passionate past perfect perhaps piece plenty point possible " +
    "potential practical prefer preferably preference prepare present pretty previous probably proper properly purpose put quality quick " +
    "quickly quite ready real really reason reasonable recent recently regard regarding relevant reliable remain require requirement rest " +
    "result right rough safe said say second see seem seen select sense separate serious several short shortly significant simple simply " +
    "since situation small smooth solid solution someone something sometimes somewhere soon sort special specific specifically spend stay step still " +
    "straight strong struggle stuff style success successful suitable super support supposed surely surprise take taken talk tailored tend thing " +
    "think thorough though together told tough toward tried true truly turn type typical typically ultimate understand unique until unusual urgent " +
    "useful usual usually valuable various variety want way well went whatever whenever wherever whether while whole wide wish within without wonderful " +
    "work worth wrong yes yet"
  )
    .split(" ")
    .map(stem),
);
