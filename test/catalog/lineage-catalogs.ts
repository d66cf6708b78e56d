import type { Tool } from "../../src/model/tool.js";
import { tool } from "./lineage-tools.js";

/** Three small catalogs written for these tests: laws over them run without public data. */

const CASE = "string Number of the case, e.g. C-17.";
const PAGE = "integer Page of the result, from 1.";

export const HELPDESK: readonly Tool[] = [
  tool("desk/list_cases", "Lists the open cases of a queue, newest first.", {
    "queue!": "string Name of the queue.",
    page: PAGE,
  }),
  tool("desk/get_case", "Reads one case with its history and who works on it.", { "case_id!": CASE }),
  tool("desk/open_case", "Opens a new case for a caller and puts it in a queue.", {
    "subject!": "string What it is about, in one line.",
    "caller!": "string Mail address of the caller.",
    queue: "string Queue that takes it.",
  }),
  tool("desk/close_case", "Closes a case once its cause is found; the caller is told.", {
    "case_id!": CASE,
    "cause!": "string What was wrong.",
  }),
  tool("desk/assign_case", "Gives a case to an engineer.", { "case_id!": CASE, "engineer!": "string Login of the engineer." }),
  tool("desk/add_note", "Writes an internal remark on a case; callers never see it.", {
    "case_id!": CASE,
    "remark!": "string The remark.",
  }),
  tool("desk/search_articles", "Searches the knowledge base by words and returns articles with a score.", {
    "words!": "string What to look for.",
    limit: "integer How many articles at most.",
  }),
  tool("desk/publish_article", "Makes a drafted article visible to callers.", { "article_id!": "string Number of the article." }),
  tool("desk/get_engineer", "Reads the shift, skills and load of an engineer.", { "engineer!": "string Login of the engineer." }),
  tool("desk/list_queues", "Names all queues with the count of waiting cases.", {}),
  tool("desk/set_priority", "Moves a case up or down in its queue.", {
    "case_id!": CASE,
    "priority!": "string(low|normal|high) How urgent it is.",
  }),
  tool("desk/merge_duplicates", "Joins two cases about the same fault into the older one.", { "older!": CASE, "younger!": CASE }),
];

const CAR = "string Registration plate of the car.";

export const GARAGE: readonly Tool[] = [
  tool("garage/bookAppointment", "Books a bay and a mechanic for a car at a given day.", {
    "plate!": CAR,
    "day!": "string Day, as 2031-05-01.",
    "work!": "string What is to be done.",
  }),
  tool("garage/cancelAppointment", "Takes a booked appointment out of the calendar.", {
    "appointmentId!": "string Number of the appointment.",
    reason: "string Why.",
  }),
  tool("garage/findCar", "Finds a car with its owner and service history by plate.", { "plate!": CAR }),
  tool("garage/registerCar", "Enters a car that was never here before.", {
    "plate!": CAR,
    "model!": "string Make and model.",
    "owner!": "string Customer number of the owner.",
  }),
  tool("garage/estimateRepair", "Works out price and hours of a repair from parts and labour.", {
    "plate!": CAR,
    "parts!": "array Part numbers.",
    hours: "number Hours of labour.",
  }),
  tool("garage/orderPart", "Orders a spare part from the wholesaler.", {
    "partNumber!": "string Number of the part.",
    quantity: "integer Pieces.",
  }),
  tool("garage/trackDelivery", "Says where an ordered part is and when it arrives.", {
    "orderNumber!": "string Number of the order.",
  }),
  tool("garage/writeInvoice", "Writes the bill for a finished repair.", {
    "appointmentId!": "string Number of the appointment.",
    discount: "number Per cent off.",
  }),
  tool("garage/recordMileage", "Notes the reading of the odometer.", { "plate!": CAR, "kilometres!": "integer Reading." }),
  tool("garage/listBays", "Shows which lifts and bays are free today.", {}),
];

const SINGER = "string Name of the singer.";

export const CHOIR: readonly Tool[] = [
  tool("choir/rehearsal-plan", "Plans a rehearsal: pieces, order and minutes for each.", {
    "evening!": "string Which evening.",
    "pieces!": "array Titles of pieces.",
  }),
  tool("choir/rehearsal-attendance-record", "Records who came to a rehearsal.", {
    "evening!": "string Which evening.",
    "present!": "array Names of singers.",
  }),
  tool("choir/rehearsal-attendance-list", "Tells how often each singer came this season.", {
    season: "string Season, e.g. 2030.",
  }),
  tool("choir/score-lend", "Lends sheet music to a singer until the concert.", {
    "singer!": SINGER,
    "piece!": "string Title of the piece.",
  }),
  tool("choir/score-return", "Takes lent sheet music back into the cupboard.", {
    "singer!": SINGER,
    "piece!": "string Title of the piece.",
    torn: "boolean Whether it is damaged.",
  }),
  tool("choir/singer-invite", "Asks somebody to an audition by mail.", {
    "mail!": "string Mail address.",
    "voice!": "string(soprano|alto|tenor|bass) Voice.",
  }),
  tool("choir/singer-profile-get", "Reads voice, range and dues of a singer.", { "singer!": SINGER }),
  tool("choir/concert-create", "Sets a concert down with church, date and programme.", {
    "church!": "string Where.",
    "date!": "string When.",
    "programme!": "array Titles of pieces.",
  }),
  tool("choir/concert-ticket-sell", "Sells seats of a concert at the door or ahead.", {
    "concert!": "string Number of the concert.",
    "seats!": "integer How many.",
    reduced: "boolean Reduced price.",
  }),
  tool("choir/dues-remind", "Reminds singers whose yearly dues are open.", { year: "integer Which year." }),
];

export const CATALOGS: readonly (readonly Tool[])[] = [HELPDESK, GARAGE, CHOIR];
