/**
 * The shop's database: its tables and the state every run starts from.
 *
 * Owns: rows, ids and the shop's own calendar day, all fixed, so that every run is the same run.
 * Speaks: JSON rows; money in cents.
 * Never: tools, sentences for people. Each upstream owns its tables: what one needs of the other travels as an argument.
 */
export type OrderStatus = "paid" | "shipped" | "delivered" | "cancelled";
export type ReturnStatus = "open" | "approved" | "rejected";

export interface CustomerRow {
  name: string;
  email: string;
  phone: string;
}
export interface OrderLine {
  sku: string;
  name: string;
  quantity: number;
  unit_cents: number;
}
export interface OrderRow {
  customer_id: string;
  status: OrderStatus;
  placed: string;
  delivered: string | null;
  payment_id: string;
  delivery_address: string;
  tracking_number: string | null;
  cancel_reason: string | null;
  lines: OrderLine[];
}
export interface PaymentRow {
  order_id: string;
  method: "card" | "invoice" | "wallet";
  captured_cents: number;
  refunded_cents: number;
}
export interface ReturnRow {
  order_id: string;
  sku: string;
  quantity: number;
  reason: string;
  condition: string | null;
  status: ReturnStatus;
  value_cents: number;
  note: string | null;
}
export interface RefundRow {
  payment_id: string;
  amount_cents: number;
  reason: string;
}
export interface ShopTables {
  customers: Record<string, CustomerRow>;
  orders: Record<string, OrderRow>;
  payments: Record<string, PaymentRow>;
  returns: Record<string, ReturnRow>;
  refunds: Record<string, RefundRow>;
}

export interface WarehouseRow {
  city: string;
}
export interface LevelRow {
  sku: string;
  name: string;
  warehouse_id: string;
  on_hand: number;
}
export interface ReservationRow {
  order_id: string;
  sku: string;
  quantity: number;
  warehouse_id: string;
}
export interface ShipmentRow {
  order_id: string;
  warehouse_id: string;
  status: "packed" | "in_transit" | "delivered";
  carrier: string | null;
  delivery_address: string | null;
  tracking_number: string | null;
  items: { sku: string; quantity: number }[];
}
export interface MovementRow {
  sku: string;
  warehouse_id: string;
  quantity: number;
  return_id: string | null;
}
export interface DepotTables {
  warehouses: Record<string, WarehouseRow>;
  levels: Record<string, LevelRow>;
  reservations: Record<string, ReservationRow>;
  shipments: Record<string, ShipmentRow>;
  movements: Record<string, MovementRow>;
}

/** The day it always is in the shop: returns are counted from it. */
export const TODAY = "2026-03-16";
export const RETURN_DAYS = 30;

const GOODS = {
  "SKU-KETTLE": ["Enamel kettle", 3990],
  "SKU-LAMP": ["Desk lamp", 5900],
  "SKU-MUG": ["Stoneware mug", 1250],
  "SKU-RUG": ["Wool rug", 18900],
  "SKU-CLOCK": ["Wall clock", 4500],
  "SKU-TEAPOT": ["Glass teapot", 3400],
} as const;
type Sku = keyof typeof GOODS;

const line = (sku: Sku, quantity: number): OrderLine => ({ sku, name: GOODS[sku][0], quantity, unit_cents: GOODS[sku][1] });

export const totalCents = (order: Pick<OrderRow, "lines">): number =>
  order.lines.reduce((sum, item) => sum + item.quantity * item.unit_cents, 0);

interface SeedOrder {
  id: string;
  customer: string;
  status: OrderStatus;
  placed: string;
  delivered?: string;
  address: string;
  tracking?: string;
  cancel?: string;
  lines: OrderLine[];
}

const CUSTOMERS: Record<string, CustomerRow> = {
  "C-101": { name: "Anna Keller", email: "anna.keller@example.org", phone: "+44 113 555 0101" },
  "C-102": { name: "Ben Osei", email: "ben.osei@example.org", phone: "+44 20 5555 0102" },
  "C-103": { name: "Chloe Martin", email: "chloe.martin@example.org", phone: "+44 161 555 0103" },
  "C-104": { name: "Dev Patel", email: "dev.patel@example.org", phone: "+44 116 555 0104" },
  "C-105": { name: "Elif Demir", email: "elif.demir@example.org", phone: "+44 131 555 0105" },
  "C-106": { name: "Finn Doyle", email: "finn.doyle@example.org", phone: "+44 28 5555 0106" },
  "C-107": { name: "Grace Lim", email: "grace.lim@example.org", phone: "+44 117 555 0107" },
  "C-108": { name: "Hugo Blanc", email: "hugo.blanc@example.org", phone: "+44 29 5555 0108" },
};

const ORDERS: readonly SeedOrder[] = [
  {
    id: "O-1001",
    customer: "C-101",
    status: "delivered",
    placed: "2026-02-27",
    delivered: "2026-03-05",
    address: "12 Mill Lane, Leeds LS1 4AB",
    tracking: "TRK-7001",
    lines: [line("SKU-KETTLE", 1), line("SKU-MUG", 2)],
  },
  {
    id: "O-1002",
    customer: "C-101",
    status: "shipped",
    placed: "2026-03-11",
    address: "12 Mill Lane, Leeds LS1 4AB",
    tracking: "TRK-7002",
    lines: [line("SKU-LAMP", 1)],
  },
  {
    id: "O-1003",
    customer: "C-102",
    status: "paid",
    placed: "2026-03-14",
    address: "3 Canal Row, London E8 3NJ",
    lines: [line("SKU-RUG", 1)],
  },
  {
    id: "O-1004",
    customer: "C-103",
    status: "paid",
    placed: "2026-03-14",
    address: "48 Oak Road, Manchester M4 1HQ",
    lines: [line("SKU-MUG", 4)],
  },
  {
    id: "O-1005",
    customer: "C-104",
    status: "paid",
    placed: "2026-03-15",
    address: "9 Castle View, Leicester LE1 5WW",
    lines: [line("SKU-CLOCK", 1)],
  },
  {
    id: "O-1006",
    customer: "C-102",
    status: "delivered",
    placed: "2026-01-05",
    delivered: "2026-01-10",
    address: "3 Canal Row, London E8 3NJ",
    tracking: "TRK-7003",
    lines: [line("SKU-LAMP", 1)],
  },
  {
    id: "O-1007",
    customer: "C-105",
    status: "delivered",
    placed: "2026-03-06",
    delivered: "2026-03-10",
    address: "21 Hill Street, Edinburgh EH2 3JP",
    tracking: "TRK-7004",
    lines: [line("SKU-LAMP", 2)],
  },
  {
    id: "O-1008",
    customer: "C-106",
    status: "paid",
    placed: "2026-03-15",
    address: "5 Harbour Close, Belfast BT1 2LA",
    lines: [line("SKU-KETTLE", 1)],
  },
  {
    id: "O-1009",
    customer: "C-103",
    status: "cancelled",
    placed: "2026-02-20",
    address: "48 Oak Road, Manchester M4 1HQ",
    cancel: "too_slow",
    lines: [line("SKU-TEAPOT", 1)],
  },
  {
    id: "O-1010",
    customer: "C-107",
    status: "delivered",
    placed: "2026-03-08",
    delivered: "2026-03-12",
    address: "30 Dock Street, Bristol BS1 6TY",
    tracking: "TRK-7005",
    lines: [line("SKU-TEAPOT", 1)],
  },
  {
    id: "O-1011",
    customer: "C-108",
    status: "paid",
    placed: "2026-03-16",
    address: "77 Park Place, Cardiff CF10 3BG",
    lines: [line("SKU-KETTLE", 2)],
  },
  {
    id: "O-1012",
    customer: "C-105",
    status: "shipped",
    placed: "2026-03-13",
    address: "21 Hill Street, Edinburgh EH2 3JP",
    tracking: "TRK-7006",
    lines: [line("SKU-CLOCK", 1), line("SKU-MUG", 1)],
  },
];

const METHODS = ["card", "invoice", "wallet"] as const;
const paymentOf = (order: SeedOrder): string => order.id.replace("O-1", "P-5");

/** The customer side as every run finds it. A new object each time. */
export function seedShop(): ShopTables {
  const orders: ShopTables["orders"] = {};
  const payments: ShopTables["payments"] = {};
  for (const [n, order] of ORDERS.entries()) {
    orders[order.id] = {
      customer_id: order.customer,
      status: order.status,
      placed: order.placed,
      delivered: order.delivered ?? null,
      payment_id: paymentOf(order),
      delivery_address: order.address,
      tracking_number: order.tracking ?? null,
      cancel_reason: order.cancel ?? null,
      lines: structuredClone(order.lines),
    };
    const captured = totalCents(order);
    payments[paymentOf(order)] = {
      order_id: order.id,
      method: METHODS[n % METHODS.length] ?? "card",
      captured_cents: captured,
      refunded_cents: order.status === "cancelled" ? captured : 0,
    };
  }
  const returned = { condition: null, note: null, status: "open" } as const;
  return {
    customers: structuredClone(CUSTOMERS),
    orders,
    payments,
    returns: {
      "R-2001": { ...returned, order_id: "O-1006", sku: "SKU-LAMP", quantity: 1, reason: "changed_mind", value_cents: 5900 },
      "R-2002": {
        ...returned,
        order_id: "O-1010",
        sku: "SKU-TEAPOT",
        quantity: 1,
        reason: "not_as_described",
        value_cents: 3400,
      },
    },
    refunds: { "F-3001": { payment_id: "P-5009", amount_cents: 3400, reason: "too_slow" } },
  };
}

const CITIES: Record<string, string> = { "W-1": "Leeds", "W-2": "Bristol", "W-3": "Glasgow" };
/** Pieces on the shelves of W-1, W-2 and W-3. */
const SHELVES: Record<Sku, readonly [number, number, number]> = {
  "SKU-KETTLE": [14, 6, 0],
  "SKU-LAMP": [3, 0, 8],
  "SKU-MUG": [40, 25, 12],
  "SKU-RUG": [1, 2, 0],
  "SKU-CLOCK": [0, 5, 3],
  "SKU-TEAPOT": [9, 0, 4],
};

/** The depot as every run finds it. A new object each time. */
export function seedDepot(): DepotTables {
  const levels: DepotTables["levels"] = {};
  for (const sku of Object.keys(GOODS) as Sku[]) {
    for (const [n, warehouse_id] of Object.keys(CITIES).entries()) {
      levels[`${sku}@${warehouse_id}`] = { sku, name: GOODS[sku][0], warehouse_id, on_hand: SHELVES[sku][n] ?? 0 };
    }
  }
  const shipments: DepotTables["shipments"] = {};
  for (const [n, order] of ORDERS.filter((one) => one.tracking !== undefined).entries()) {
    shipments[`S-600${n + 1}`] = {
      order_id: order.id,
      warehouse_id: "W-1",
      status: order.status === "delivered" ? "delivered" : "in_transit",
      carrier: n % 2 === 0 ? "postal" : "express",
      delivery_address: order.address,
      tracking_number: order.tracking ?? null,
      items: order.lines.map(({ sku, quantity }) => ({ sku, quantity })),
    };
  }
  return {
    warehouses: Object.fromEntries(Object.entries(CITIES).map(([id, city]) => [id, { city }])),
    levels,
    reservations: { "H-4001": { order_id: "O-1008", sku: "SKU-KETTLE", quantity: 1, warehouse_id: "W-2" } },
    shipments,
    movements: {},
  };
}
