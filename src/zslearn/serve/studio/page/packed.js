// Binary answers of the studio: a JSON head, then arrays back to back, each padded to 8 bytes.

const KINDS = { f4: Float32Array, i4: Int32Array, u1: Uint8Array };
const padded = (size) => Math.ceil(size / 8) * 8;

/**
 * Read a packed answer.
 * @param {ArrayBuffer} buffer
 * @returns {{head: object, arrays: Object<string, Float32Array|Int32Array|Uint8Array>}}
 */
export function unpack(buffer) {
  if (buffer.byteLength < 4) throw new Error("packed answer: too short for its head");
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) throw new Error("packed answer: the head is cut off");
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  let offset = padded(4 + length);
  for (const { name, dtype, shape } of head.arrays ?? []) {
    const Kind = KINDS[dtype];
    if (!Kind) throw new Error(`packed answer: unknown kind of number ${dtype}`);
    const count = shape.reduce((product, size) => product * size, 1);
    const size = count * Kind.BYTES_PER_ELEMENT;
    if (offset + size > buffer.byteLength) throw new Error(`packed answer: ${name} is cut off`);
    arrays[name] = new Kind(buffer, offset, count);
    offset += padded(size);
  }
  return { head, arrays };
}
