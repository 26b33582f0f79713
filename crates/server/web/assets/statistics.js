// Agreement of two lists of scores.

/**
 * Returns ranks starting at 1. Equal values share the mean of their ranks.
 * @param {number[]} values
 */
export function ranks(values) {
  const order = values.map((_, index) => index).sort((first, second) => (values[first] ?? 0) - (values[second] ?? 0));
  const found = new Array(values.length).fill(0);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end + 1 < order.length && values[order[end + 1] ?? 0] === values[order[start] ?? 0]) end += 1;
    for (let index = start; index <= end; index += 1) found[order[index] ?? 0] = (start + end) / 2 + 1;
    start = end + 1;
  }
  return found;
}

/**
 * Returns Pearson's correlation, or null for fewer than three pairs or a list without variance.
 * @param {number[]} first @param {number[]} second
 */
export function correlation(first, second) {
  const count = first.length;
  if (count < 3) return null;
  const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / count;
  const [middle, other] = [mean(first), mean(second)];
  let [product, left, right] = [0, 0, 0];
  first.forEach((value, index) => {
    const [a, b] = [value - middle, (second[index] ?? 0) - other];
    product += a * b;
    left += a * a;
    right += b * b;
  });
  return left > 0 && right > 0 ? product / Math.sqrt(left * right) : null;
}

/**
 * Returns SRCC, PLCC and the mean difference (second minus first).
 * @param {number[]} first @param {number[]} second
 */
export function agreement(first, second) {
  const shift = first.length === 0 ? null : first.reduce((sum, value, index) => sum + (second[index] ?? 0) - value, 0) / first.length;
  return { rank: correlation(ranks(first), ranks(second)), linear: correlation(first, second), shift };
}
