/**
 * Words that carry no need: English function words, and the words in which people ask.
 *
 * Two sets, so that each can be left in: a need made of nothing else is searched as it stands.
 */

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
