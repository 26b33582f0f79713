// Encodes an image as a PNG file with 256 colors, to keep the repository small.
import { crc32, deflateSync } from 'node:zlib';

/** Splits a list of colors (numbers 0xRRGGBB with counts) into boxes along the longest side. */
function boxesOf(colors, wanted) {
  const side = (box, shift) => {
    const values = box.map(([color]) => (color >> shift) & 255);
    return values.reduce((most, value) => Math.max(most, value), 0) - values.reduce((least, value) => Math.min(least, value), 255);
  };
  const weight = (box) => box.reduce((sum, [, count]) => sum + count, 0);
  // Boxes with many pixels or a wide range are split first, so that rare accent colors are preserved.
  const made = (part) => {
    const longest = Math.max(side(part, 16), side(part, 8), side(part, 0));
    return { colors: part, pixels: weight(part), urgency: Math.cbrt(weight(part)) * longest };
  };
  const boxes = [made(colors)];
  while (boxes.length < wanted) {
    const at = boxes.reduce((best, box, index) => (box.colors.length > 1 && (best < 0 || box.urgency > boxes[best].urgency) ? index : best), -1);
    if (at < 0) break;
    const [box] = boxes.splice(at, 1);
    const shift = [16, 8, 0].reduce((best, next) => (side(box.colors, next) > side(box.colors, best) ? next : best));
    box.colors.sort(([a], [b]) => ((a >> shift) & 255) - ((b >> shift) & 255));
    let [cut, sum] = [0, 0];
    while (cut < box.colors.length - 1 && sum < box.pixels / 2) sum += box.colors[cut++][1];
    for (const part of [box.colors.slice(0, Math.max(1, cut)), box.colors.slice(Math.max(1, cut))]) {
      if (part.length > 0) boxes.push(made(part));
    }
  }
  return boxes;
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/**
 * @param {Uint8Array} pixels RGBA
 * @param {number} width
 * @param {number} height
 */
export function palettePng(pixels, width, height) {
  // Colors are grouped by five bits per channel; each group is replaced by its mean color.
  const counts = new Map();
  const key = (at) => ((pixels[at] & 0xf8) << 16) | ((pixels[at + 1] & 0xf8) << 8) | (pixels[at + 2] & 0xf8);
  for (let at = 0; at < pixels.length; at += 4) counts.set(key(at), (counts.get(key(at)) ?? 0) + 1);
  const boxes = boxesOf([...counts], 256);
  const place = new Map(boxes.flatMap(({ colors }, index) => colors.map(([color]) => [color, index])));
  const sums = boxes.map(() => [0, 0, 0, 0]);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = 4 * (y * width + x);
      const index = place.get(key(at));
      rows[y * (width + 1) + 1 + x] = index;
      for (let channel = 0; channel < 3; channel += 1) sums[index][channel] += pixels[at + channel];
      sums[index][3] += 1;
    }
  }
  const palette = Buffer.from(sums.flatMap(([red, green, blue, count]) => [red, green, blue].map((sum) => Math.round(sum / count))));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}
