/** JSON text of lists and objects in each other, so many levels deep. */
export function levels(count: number): string {
  const half = Math.floor(count / 2);
  return `${count % 2 === 1 ? "[" : ""}${'{"a":['.repeat(half)}${"]}".repeat(half)}${count % 2 === 1 ? "]" : ""}`;
}
