/** Works something out once for each object, and forgets it with the object. */
export function oncePer<Key extends object, Value>(work: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let entry = known.get(key);
    if (entry === undefined) {
      entry = { value: work(key) };
      known.set(key, entry);
    }
    return entry.value;
  };
}
