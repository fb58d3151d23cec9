// Fields of a request as the form of the page has them, and the policies that a run covers.

/** warpSizes are the numbers of lanes that a warp may have. */
export const warpSizes = [1, 2, 4, 8, 16, 32, 64];

/** parseExtent returns the extents of a text such as "32", "8,4" or "2x2x2"; zeros for an empty text. It throws an error for other texts. */
export function parseExtent(text: string): [number, number, number] {
  const list = text.trim() ? text.trim().split(/\s*[,x×]\s*|\s+/) : ['0', '0', '0'];
  const numbers = list.map((n) => (/^\d{1,10}$/.test(n) ? Number(n) : NaN));
  if (list.length > 3 || (text.trim() && numbers.some((n) => !(n >= 1 && n < 2 ** 31)))) {
    throw new Error(`"${text.trim()}": want one to three numbers from 1 on, such as 32 or 8,4`);
  }
  return [numbers[0], numbers[1] ?? 1, numbers[2] ?? 1];
}

/** policiesToRun returns the policies that a run covers: all of them; or, for one policy, that policy and those whose runs it interrupts. */
export function policiesToRun(policies: string[], runs: { label: string; busy: boolean }[], only?: string): string[] {
  if (only === undefined) return policies;
  return policies.filter((p) => p === only || runs.some((r) => r.label === p && r.busy));
}
