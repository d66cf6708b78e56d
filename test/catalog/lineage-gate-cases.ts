import type { GateId, LineageInput } from "../../src/catalog/lineage.js";
import type { LineageLink } from "../../src/model/lineage.js";
import type { Tool } from "../../src/model/tool.js";
import { movement, tool } from "./lineage-tools.js";

/**
 * For every gate a small catalog in which it alone keeps lineage from a wrong answer. With all gates the case `holds`; with its
 * gate left out it does not. Also what the mutation run takes.
 */
export interface GateCase {
  readonly says: string;
  readonly input: LineageInput;
  readonly holds: (links: readonly LineageLink[]) => boolean;
}

const linkFrom = (links: readonly LineageLink[], from: string): LineageLink | undefined =>
  links.find((link) => link.from === from);
const none = (from: string) => (links: readonly LineageLink[]) => linkFrom(links, from) === undefined;
const notCertain = (from: string) => (links: readonly LineageLink[]) => linkFrom(links, from)?.level !== "certain";
const proposed = (from: string) => (links: readonly LineageLink[]) => linkFrom(links, from)?.level === "proposed";
const allNotCertain = (links: readonly LineageLink[]): boolean => links.every((link) => link.level !== "certain");

const ID = { "id!": "string Number." };

const GLOSSARY =
  "Explains what the many odd words of a project mean to people who join it late, with an example for each of them, a drawing, a short history, pictures, a translation into four languages, hints for teachers, links between neighbours and a quiz at the end.";

/** Tools that neither left nor came: they give words their weight. */
const BACKGROUND: readonly Tool[] = [
  tool("w/list_rooms", "Names the rooms of a house with their floor.", { "house!": "string House." }),
  tool("w/get_weather", "Tells the weather of tomorrow for a town.", { "town!": "string Town." }),
  tool("w/send_letter", "Posts a letter to an address by mail.", { "address!": "string Where to.", "body!": "string Text." }),
  tool("w/create_poll", "Opens a poll with several answers.", { "question!": "string Question.", "answers!": "array Answers." }),
  tool("w/read_meter", "Reads the counter of electricity.", { "meter!": "string Meter." }),
  tool("w/cancel_trip", "Cancels a booked journey and pays it back.", { "trip!": "string Trip." }),
];

const from = (before: readonly Tool[], after: readonly Tool[]): LineageInput =>
  movement([...BACKGROUND, ...before], [...BACKGROUND, ...after]);

export const GATE_CASES: Readonly<Record<GateId, GateCase>> = {
  "same-upstream": {
    says: "a tool of one upstream is not replaced by an equal one of another",
    input: movement(
      [tool("prod/restart_node", "Restarts one node of the cluster and waits for it.", ID)],
      [tool("test/restart_node", "Restarts one node of the cluster and waits for it.", ID)],
    ),
    holds: none("prod/restart_node"),
  },
  "unique-name": {
    says: "two new tools that spell an old name are a question, not an answer",
    input: from(
      [tool("w/get_user", "Reads a member of staff by number.", ID)],
      [
        tool("w/getUser", "Reads a member of staff by number, at a terminal.", { ...ID, "terminal!": "string Terminal." }),
        tool("w/get-user", "Reads a member of staff by number, in the shop.", { ...ID, "shop!": "string Shop." }),
      ],
    ),
    holds: notCertain("w/get_user"),
  },
  "spelling-support": {
    says: "one name spelt anew with other texts and parameters is a proposal",
    input: from(
      [tool("w/list_bases", "Names the military posts along a border.", { "border!": "string Border." })],
      [tool("w/list-bases", "Shows solvents of a laboratory with their acidity.", { "shelf!": "integer Shelf." })],
    ),
    holds: proposed("w/list_bases"),
  },
  "order-one-word": {
    says: "the routes of a service are not the service of a route",
    input: from(
      [tool("w/drop_route_of_service", "Drops what belongs together in the gateway, for good.", ID)],
      [
        tool("w/drop_service_of_route", "Drops what belongs together in the gateway for good, at once.", {
          ...ID,
          now: "boolean At once.",
        }),
      ],
    ),
    holds: notCertain("w/drop_route_of_service"),
  },
  "number-requires": {
    says: "all tags are not one tag by number",
    input: from(
      [tool("w/get_tags", "Reads tags of a page with their colour.", { page: "string Page." })],
      [tool("w/get_tag", "Reads a tag of a page with its colour.", { page: "string Page.", "number!": "integer Number." })],
    ),
    holds: notCertain("w/get_tags"),
  },
  "plural-likeness": {
    says: "getting one message is not getting messages",
    input: from(
      [tool("w/get_message", "Reads the body of a message by number.", ID)],
      [tool("w/get_messages", "Searches the inbox between two days for a sender.", ID)],
    ),
    holds: notCertain("w/get_message"),
  },
  "twin-unique": {
    says: "tools that share contract and text cannot be told apart by them",
    input: from(
      [
        tool("w/arm_siren", "Changes the state of the siren in a hall.", ID),
        tool("w/mute_siren", "Changes the state of the siren in a hall.", ID),
      ],
      [
        tool("w/siren_hush", "Changes the state of the siren in a hall.", ID),
        tool("w/siren_ready", "Changes the state of the siren in a hall.", ID),
      ],
    ),
    holds: allNotCertain,
  },
  "twin-conflict": {
    says: "equal contract and text do not make switching on of switching off",
    input: from(
      [tool("w/enable_relay", "Sets the relay of the pump at once.", ID)],
      [tool("w/disable_relay", "Sets the relay of the pump at once.", ID)],
    ),
    holds: proposed("w/enable_relay"),
  },
  "bulk-support": {
    says: "two tools make no rule",
    input: from(
      [
        tool("w/ledger_book", "Books an amount of money on an account of the ledger.", {
          "amount!": "number Amount.",
          "account!": "string Account.",
          text: "string Text.",
        }),
        tool("w/ledger_void", "Takes a booked entry off an account of the ledger with a reason.", {
          "entry!": "string Entry.",
          "reason!": "string Why.",
          by: "string Who.",
        }),
      ],
      [
        tool("w/finance_ledger_book", "Books an amount on an account of the ledger once a checker has signed.", {
          "amount!": "number Amount.",
          "account!": "string Account.",
          "checker!": "string Who.",
        }),
        tool("w/finance_ledger_void", "Takes an entry off the ledger with a reason, once a checker has signed.", {
          "entry!": "string Entry.",
          "checker!": "string Who.",
          "reason!": "string Why.",
        }),
      ],
    ),
    holds: allNotCertain,
  },
  "bulk-bijective": {
    says: "a rule that gives one tool two successors says nothing of it",
    input: from(
      ["crane", "truck", "ferry", "lorry"].map((noun) =>
        tool(`w/harbour_${noun}_reserve`, `Reserves a ${noun} in the harbour for an hour.`, { "hour!": "string Hour." }),
      ),
      [
        ...["crane", "truck", "ferry", "lorry"].map((noun) =>
          tool(`w/port_harbour_${noun}_reserve`, `Reserves a ${noun} in the harbour for an hour and a gang.`, {
            "hour!": "string Hour.",
            gang: "string Gang.",
          }),
        ),
        tool("w/harbour_port_crane_reserve", "Reserves a crane in the harbour for an hour and a gang, a gang.", {
          "hour!": "string Hour.",
          gang: "string Gang.",
        }),
      ],
    ),
    holds: notCertain("w/harbour_crane_reserve"),
  },
  "bulk-conflict": {
    says: "creating does not become deleting because a family of names says so",
    input: from(
      ["folder", "shelf", "drawer"].map((noun) =>
        tool(`w/create_${noun}`, `Work on a ${noun} of the archive by its name.`, { "name!": "string Name." }),
      ),
      ["folder", "shelf", "drawer"].map((noun) =>
        tool(`w/delete_${noun}`, `Work on a ${noun} of the archive by its name, for good.`, { "name!": "string Name." }),
      ),
    ),
    holds: allNotCertain,
  },
  "bulk-likeness": {
    says: "a prefix does not make equal what says and takes something else",
    input: from(
      [
        tool("w/import", "Takes rows of a spreadsheet into the stock list.", { "rows!": "array Rows." }),
        tool("w/print", "Sends a label to the printer at the desk.", { "label!": "string Label." }),
        tool("w/scan", "Reads the barcode under a hand scanner.", { "scanner!": "string Scanner." }),
      ],
      [
        tool("w/admin_import", "Loads certificates for single sign-on.", { "certificate!": "string Certificate." }),
        tool("w/admin_print", "Shows quota and owner of every tenant.", { "tenant!": "string Tenant." }),
        tool("w/admin_scan", "Looks for viruses on a mounted volume.", { "volume!": "string Volume." }),
      ],
    ),
    holds: allNotCertain,
  },
  "bulk-share": {
    says: "a prefix that most of its tools do not bear out is no rule",
    input: from(
      [
        ...["lamp", "fan", "valve"].map((noun) =>
          tool(`w/${noun}_toggle`, `Switches the ${noun} of a room over at once.`, {
            "room!": "string Room.",
            speed: "number Speed.",
          }),
        ),
        tool("w/north_toggle", "Rings the bell of the chapel.", { "times!": "integer Times." }),
        tool("w/south_toggle", "Feeds the fish in the pond.", { "grams!": "integer Grams." }),
        tool("w/east_toggle", "Winds the clock of the tower.", { "turns!": "integer Turns." }),
      ],
      [
        ...["lamp", "fan", "valve"].map((noun) =>
          tool(`w/hall_${noun}_toggle`, `Switches a ${noun} over that hangs above the stage of a room.`, {
            "room!": "string Room.",
            "dim!": "number Dim.",
          }),
        ),
        tool("w/hall_north_toggle", "Draws the curtain.", { "speed!": "number Speed." }),
        tool("w/hall_south_toggle", "Plays music.", { "song!": "string Song." }),
        tool("w/hall_east_toggle", "Counts guests.", { "door!": "string Door." }),
      ],
    ),
    holds: allNotCertain,
  },
  "bulk-unrelated-words": {
    says: "a word that gives way to an unrelated one needs more than a family",
    input: from(
      ["book", "void", "print"].map((act) =>
        tool(`w/ticket_${act}_now`, `Tickets for the tram, to ${act} at a machine with coins.`, {
          "line!": "string Line.",
          "zone!": "string Zone.",
          "coins!": "number Coins.",
        }),
      ),
      ["book", "void", "print"].map((act) =>
        tool(`w/voucher_${act}_now`, `Vouchers for the tram museum, to ${act} at a desk or at a machine.`, {
          "line!": "string Line.",
          "zone!": "string Zone.",
          "desk!": "string Desk.",
        }),
      ),
    ),
    holds: allNotCertain,
  },
  "bulk-family": {
    says: "a prefix that few of the tools take is held to more",
    input: from(
      [
        ...["click", "drag", "hover"].map((act) =>
          tool(`w/${act}`, `Perform ${act} on an element of the page by its handle.`, {
            "handle!": "string Handle.",
            times: "integer Times.",
          }),
        ),
        ...["alpha", "beta", "gamma", "delta", "omega"].map((noun) =>
          tool(`w/${noun}_trace`, `Records ${noun} waves of a brain.`, { [`${noun}!`]: "string Which." }),
        ),
      ],
      ["click", "drag", "hover"].map((act) =>
        tool(`w/browser_${act}`, `Do a ${act} on an element in the window of a browser.`, {
          "handle!": "string Handle.",
          "window!": "string Window.",
        }),
      ),
    ),
    holds: allNotCertain,
  },
  "bulk-living-word": {
    says: "two things that live on side by side are not one thing renamed",
    input: from(
      [
        ...["table", "index", "view"].map((noun) =>
          tool(`w/lion_${noun}_drop`, `Drops a ${noun} of the database on the server.`, {
            "server!": "string Server.",
            "name!": "string Name.",
          }),
        ),
        tool("w/lion_backup", "Keeps a copy of the lion database.", ID),
        tool("w/tiger_backup", "Keeps a copy of the tiger database.", ID),
      ],
      [
        ...["table", "index", "view"].map((noun) =>
          tool(`w/tiger_${noun}_drop`, `Drops a ${noun} of the database on that server.`, {
            "server!": "string Server.",
            "name!": "string Name.",
          }),
        ),
        tool("w/lion_backup", "Keeps a copy of the lion database.", ID),
        tool("w/tiger_backup", "Keeps a copy of the tiger database.", ID),
      ],
    ),
    holds: allNotCertain,
  },
  conflict: {
    says: "deleting is not proposed for creating",
    input: from(
      [tool("w/create_bookmark", "Adds a bookmark for a page.", { "page!": "string Page." })],
      [tool("w/delete_bookmark", "Takes the bookmark of a page away.", { "page!": "string Page." })],
    ),
    holds: none("w/create_bookmark"),
  },
  "kept-changed": {
    says: "a neighbour that changed a little is not proposed",
    input: from(
      [
        tool("w/get_invoice_lines", "Reads the lines of an invoice with amounts.", ID),
        tool("w/get_invoice_head", "Reads date, sender and sum of an invoice.", ID),
      ],
      [tool("w/get_invoice_head", "Reads the date, sender and sum of an invoice.", ID)],
    ),
    holds: none("w/get_invoice_lines"),
  },
  "kept-unchanged": {
    says: "a neighbour that stayed as it was is not proposed",
    input: from(
      [
        tool("w/get_contract", "Reads a contract by number.", ID),
        tool("w/get_contract_history", "Tells who changed a contract, and when.", ID),
      ],
      [tool("w/get_contract_history", "Tells who changed a contract, and when.", ID)],
    ),
    holds: none("w/get_contract"),
  },
  "kept-needs-evidence": {
    says: "a neighbour of like text is not certain because it moved",
    input: from(
      [
        tool("w/show_berth", "Shows a berth of the marina with depth and length.", ID),
        tool("w/view_berth", "Shows a berth of the marina with depth, length.", ID),
      ],
      [
        tool("w/view_berth", "Shows a berth of the marina with depth, length.", {
          "id!": "string Number.",
          unit: "string Unit.",
        }),
      ],
    ),
    holds: proposed("w/show_berth"),
  },
  "kept-alias": {
    says: "a neighbour that never did the same is not proposed",
    input: from(
      [
        tool("w/list_invoice_labels", "Lists labels of an invoice.", ID),
        tool("w/list_invoice", "Lists labels and lines of an invoice.", ID),
      ],
      [tool("w/list_invoice", "Lists labels and lines of an invoice.", ID)],
    ),
    holds: none("w/list_invoice_labels"),
  },
  "method-one-to-one": {
    says: "one mode stands for one old tool",
    input: from(
      [
        tool("w/create_pending_paper_review_sheet", "Creates a review that waits.", ID),
        tool("w/create_paper_review_sheet", "Creates a review of a paper.", ID),
        tool("w/delete_paper_review_sheet", "Deletes a review of a paper.", ID),
      ],
      [
        tool("w/paper_review_sheet_write", "Write reviews of papers.", {
          "method!": "string(create|delete) What to do.",
          "id!": "string Number.",
        }),
      ],
    ),
    holds: (links) => Object.keys(linkFrom(links, "w/create_pending_paper_review_sheet")?.fixedArguments ?? {}).length === 0,
  },
  "method-siblings": {
    says: "one fitting mode with other parameters is no certainty",
    input: from(
      [
        tool("w/rotate_image", "Turns a picture by degrees.", {
          "picture!": "string Picture.",
          "degrees!": "number Degrees.",
          "fill!": "string Colour.",
        }),
      ],
      [
        tool("w/image_edit", "Edits pictures.", {
          "action!": "string(rotate|crop|blur) What to do.",
          "file!": "string File.",
          "amount!": "string How much.",
        }),
      ],
    ),
    holds: proposed("w/rotate_image"),
  },
  "method-alone": {
    says: "one fitting mode with other parameters is no certainty",
    input: from(
      [
        tool("w/rotate_image", "Turns a picture by degrees.", {
          "picture!": "string Picture.",
          "degrees!": "number Degrees.",
          "fill!": "string Colour.",
        }),
      ],
      [
        tool("w/image_edit", "Edits pictures.", {
          "action!": "string(rotate|crop|blur) What to do.",
          "file!": "string File.",
          "amount!": "string How much.",
        }),
      ],
    ),
    holds: proposed("w/rotate_image"),
  },
  "certain-text": {
    says: "half the words of a text make no certainty",
    input: from(
      [tool("w/get_tide", "Tells when the water is high at a harbour.", ID)],
      [
        tool(
          "w/show_tide_moon",
          "Tells when the water is high at a harbour by the moon, its phase, its distance and the season.",
          ID,
        ),
      ],
    ),
    holds: proposed("w/get_tide"),
  },
  "certain-coverage": {
    says: "equal texts with other parameters make no certainty",
    input: from(
      [
        tool("w/get_fare", "Works out the price of a ride through the town.", {
          "line!": "string Line.",
          "zone!": "string Zone.",
          "age!": "integer Age.",
        }),
      ],
      [
        tool("w/show_fare_price", "Works out the price of a ride through the town.", {
          "route!": "string Route.",
          "class!": "string Class.",
        }),
      ],
    ),
    holds: proposed("w/get_fare"),
  },
  "certain-name": {
    says: "a text without a like name makes no certainty",
    input: from(
      [
        tool("w/get_fare", "Works out the price of a ride through the town.", {
          "line!": "string Line.",
          "zone!": "string Zone.",
        }),
      ],
      [
        tool("w/quote", "Works out the price of a ride through the town.", {
          "line!": "string Line.",
          "zone!": "string Zone.",
          day: "string Day.",
        }),
      ],
    ),
    holds: proposed("w/get_fare"),
  },
  "certain-mutual": {
    says: "a second tool of like text is not certain beside the first",
    input: from(
      [tool("w/get_stamp", GLOSSARY, ID), tool("w/show_stamp_mark", `${GLOSSARY} A quiz.`, ID)],
      [tool("w/fetch_stamp", `${GLOSSARY} And hints.`, { "id!": "string Number.", note: "string Note." })],
    ),
    holds: notCertain("w/show_stamp_mark"),
  },
  "certain-score": {
    says: "a fair score without a rival is a proposal",
    input: from(
      [tool("w/get_parcel", "Tells where a parcel is.", { "parcel!": "string Parcel.", "country!": "string Country." })],
      [tool("w/fetch_parcel", "Says the place of a parcel on a map.", { "parcel!": "string Parcel.", "map!": "string Map." })],
    ),
    holds: proposed("w/get_parcel"),
  },
  "certain-margin": {
    says: "two successors that fit almost alike are a question",
    input: from(
      [
        tool("w/create_recipe", "Writes a recipe down with amounts for some guests.", {
          "recipe!": "string Recipe.",
          "guests!": "integer Guests.",
        }),
      ],
      [
        tool("w/add_recipe", "Writes a recipe down with amounts for all guests.", {
          "recipe!": "string Recipe.",
          "guests!": "integer Guests.",
        }),
        tool("w/insert_recipe", "Writes a recipe down with amounts for some guests, a table and a cook.", {
          "recipe!": "string Recipe.",
          "guests!": "integer Guests.",
          "cook!": "string Cook.",
        }),
      ],
    ),
    holds: notCertain("w/create_recipe"),
  },
  "certain-tie": {
    says: "two tools of the old text are a question",
    input: from(
      [tool("w/get_project_word_definitions", GLOSSARY, { "project!": "string Project." })],
      [
        tool("w/get_project_word_meanings", `${GLOSSARY} A quiz.`, { "project!": "string Project.", build: "string Build." }),
        tool("w/get_project_word_senses", `${GLOSSARY} And hints.`, { "project!": "string Project.", trial: "string Trial." }),
      ],
    ),
    holds: notCertain("w/get_project_word_definitions"),
  },
  "certain-conflict": {
    says: "reading never becomes writing with certainty",
    input: from(
      [
        tool(
          "w/hall_thermostat",
          "Temperature of the hall in degrees.",
          { "hall!": "string Hall." },
          { annotations: { readOnlyHint: true } },
        ),
      ],
      [
        tool(
          "w/hall_thermostat_dial",
          "Temperature of the hall in degrees.",
          { "hall!": "string Hall.", degrees: "number Degrees." },
          { annotations: { readOnlyHint: false } },
        ),
      ],
    ),
    holds: notCertain("w/hall_thermostat"),
  },
  "certain-same-act": {
    says: "listing does not become getting with certainty",
    input: from(
      [tool("w/list_vaults", "Vaults of the bank with their keys and owners.", { bank: "string Bank." })],
      [
        tool("w/get_vault", "Vaults of the bank with their keys and owners, by number.", {
          bank: "string Bank.",
          number: "string Number.",
        }),
      ],
    ),
    holds: proposed("w/list_vaults"),
  },
  "certain-living-word": {
    says: "a sibling of the same text is not certain while its word lives on",
    input: from(
      [
        tool("w/list_bucket_namespaces", "Lists all of them, a page at a time.", { "bucket!": "string Bucket." }),
        tool("w/drop_namespaces", "Throws some away for good.", { "names!": "array Names." }),
      ],
      [
        tool("w/list_bucket_tables", "Lists all of them, a page at a time.", {
          "bucket!": "string Bucket.",
          page: "integer Page.",
        }),
        tool("w/drop_namespaces", "Throws some away for good.", { "names!": "array Names." }),
      ],
    ),
    holds: notCertain("w/list_bucket_namespaces"),
  },
  "certain-lone-word": {
    says: "a special case is not certain to be the general one",
    input: from(
      [
        tool("w/increment_tally_counter_float", "Increments the tally counter of a key by an amount, fractions too.", {
          "key!": "string Key.",
          "amount!": "number Amount.",
        }),
      ],
      [
        tool("w/increment_tally_counter", "Increments the tally counter of a key by an amount.", {
          "key!": "string Key.",
          "amount!": "number Amount.",
        }),
      ],
    ),
    holds: proposed("w/increment_tally_counter_float"),
  },
  "mode-has-act": {
    says: "a merged tool without a mode for deleting did not take deleting over",
    input: from(
      [tool("w/delete_alarm", "Deletes an alarm rule.", { "rule!": "string Rule." })],
      [
        tool("w/manage_alarm", "Manage alarm rules: list and get.", {
          "operation!": "string(list|get) What to do.",
          rule: "string Rule.",
        }),
      ],
    ),
    holds: none("w/delete_alarm"),
  },
  "proposed-score": {
    says: "a weak score beside another is nothing",
    input: from(
      [tool("w/get_garden_plan", "Shows beds and paths of a garden as a drawing.", { "garden!": "string Garden." })],
      [
        tool("w/get_garden_sun", "Tells hours of light for a garden by month.", {
          "garden!": "string Garden.",
          "month!": "string Month.",
        }),
        tool("w/get_garden_soil", "Measures acid and water in the ground.", {
          "garden!": "string Garden.",
          "depth!": "number Depth.",
        }),
      ],
    ),
    holds: none("w/get_garden_plan"),
  },
  "proposed-margin": {
    says: "two equal candidates are nothing",
    input: from(
      [tool("w/get_project_word_definitions", GLOSSARY, { "project!": "string Project." })],
      [
        tool("w/get_project_word_meanings", `${GLOSSARY} A quiz.`, { "project!": "string Project.", build: "string Build." }),
        tool("w/get_project_word_senses", `${GLOSSARY} And hints.`, { "project!": "string Project.", trial: "string Trial." }),
      ],
    ),
    holds: none("w/get_project_word_definitions"),
  },
  "proposed-weak-score": {
    says: "little in common is nothing, even alone",
    input: from(
      [tool("w/get_garden_plan", "Shows beds and paths of a garden as a drawing.", { "garden!": "string Garden." })],
      [
        tool("w/rent_garden", "Lends a plot of a garden for some summers.", {
          "tenant!": "string Tenant.",
          "summers!": "number Summers.",
        }),
      ],
    ),
    holds: none("w/get_garden_plan"),
  },
  "proposed-weak-margin": {
    says: "a weak score beside another is nothing",
    input: from(
      [tool("w/get_garden_plan", "Shows beds and paths of a garden as a drawing.", { "garden!": "string Garden." })],
      [
        tool("w/get_garden_sun", "Tells hours of light for a garden by month.", {
          "garden!": "string Garden.",
          "month!": "string Month.",
        }),
        tool("w/get_garden_soil", "Measures acid and water in the ground.", {
          "garden!": "string Garden.",
          "depth!": "number Depth.",
        }),
      ],
    ),
    holds: none("w/get_garden_plan"),
  },
  "proposed-weak-added": {
    says: "a weak score for a tool that was there is nothing",
    input: from(
      [
        tool("w/get_kiln_heat", "Measures how hot a kiln is inside.", { "kiln!": "string Kiln." }),
        tool("w/get_kiln_plan", "Tells what burns in a kiln when, and for how long.", { "kiln!": "string Kiln." }),
      ],
      [tool("w/get_kiln_plan", "Tells what burns in a kiln when, how long, and for whom.", { "kiln!": "string Kiln." })],
    ),
    holds: none("w/get_kiln_heat"),
  },
  "split-parts": {
    says: "one part makes no split",
    input: from(
      [
        tool("w/manage_seat", "Manages seats of a theatre.", {
          "action!": "string(reserve|swap) What to do.",
          "seat!": "string Seat.",
        }),
      ],
      [tool("w/reserve_seat", "Reserves a seat of a theatre.", { "seat!": "string Seat." })],
    ),
    holds: (links) => links.every((link) => link.kind !== "split"),
  },
  "split-likeness": {
    says: "a tool that shares a word only is no part",
    input: from(
      [
        tool("w/ship_order", "Packs the goods of an order and hands them to a carrier.", {
          "order!": "string Order.",
          "carrier!": "string Carrier.",
        }),
      ],
      [
        tool("w/pack_order", "Packs the goods of an order.", { "order!": "string Order." }),
        tool("w/rate_carrier", "Gives stars to a carrier.", {
          "carrier!": "string Carrier.",
          "stars!": "integer Stars.",
          "text!": "string Text.",
        }),
      ],
    ),
    holds: (links) => links.every((link) => link.kind !== "split"),
  },
  "split-own-best": {
    says: "a tool that came from another old tool is no part",
    input: from(
      [
        tool("w/get_flight", "Reads flight times and seats of a flight.", { flight: "string Flight." }),
        tool("w/get_flight_times", "Reads flight times with delays and gates.", {
          flight: "string Flight.",
          gate: "string Gate.",
        }),
      ],
      [
        tool("w/get_flight_seats", "Reads seats of a flight.", { flight: "string Flight." }),
        tool("w/get_flight_clock", "Reads flight times with delays and gates, live.", {
          flight: "string Flight.",
          gate: "string Gate.",
        }),
      ],
    ),
    holds: (links) => links.every((link) => link.kind !== "split"),
  },
};
