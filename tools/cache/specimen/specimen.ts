/** Returns the double of `n`. */
export function double(n: number): number {
  return 2 * n;
}
