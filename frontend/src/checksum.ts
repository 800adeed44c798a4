// Length and CRC-32 of an answer in UTF-8, to compare with what the server says it sent.

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

export function checksum(text: string): { bytes: number; crc32: number } {
  const encoded = new TextEncoder().encode(text);
  let crc = 0xffffffff;
  for (const byte of encoded) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff]!;
  return { bytes: encoded.length, crc32: (crc ^ 0xffffffff) >>> 0 };
}
