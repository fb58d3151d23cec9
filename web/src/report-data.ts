// The data of a report, as Go writes it (cli/page.go, type pageData). Numbers are texts where their format is that of the terminal.

/** Report is the content of the page. */
export interface Report {
  title: string;
  /** launches is the launched kernels, with their extents. */
  launches: string[];
  /** about says how the values were counted. */
  about: string;
  /** columns is the further columns of listings, each with its meaning. */
  columns: Column[];
  /** sources is the files from which the PTX was compiled. */
  sources: ReportListing[];
  listings: ReportListing[];
  shares: Shares[];
  /** lanes is the number of warp instructions by the number of active lanes, from 1 on. All are 0 if values were not counted, after a trap. */
  lanes: LaneCount[];
  summary: { name: string; value: string; doc: string }[];
}

export interface Column {
  name: string;
  doc: string;
}

/** ReportListing is the lines of a function, or of a source file. */
export interface ReportListing {
  title: string;
  rows: Row[];
  /** jumps is the branches, as pairs of rows. */
  jumps?: [number, number][];
}

/** Row is an instruction, a label, or a line of a source: above the instructions that it was compiled to, or of its file. */
export interface Row {
  kind: 'instruction' | 'label' | 'source' | 'line';
  text: string;
  line?: number;
  /** letter is the letter of the basic block that begins here, and block its number. */
  letter?: string;
  block?: number;
  /** counts is missing for a row without instructions. */
  counts?: Counts;
}

/** Counts is the counts of an instruction or of a line. */
export interface Counts {
  /** title explains the counts in words. */
  title: string;
  /** execs is the number of executions; "" if the instruction was never executed. */
  execs?: string;
  chips?: Chip[];
  parts?: Part[];
  /** share is the share of all executions, of a line of a source. */
  share?: string;
  sharePercent?: number;
  /** lanes is the mean number of active lanes. */
  lanes?: string;
  lanesPercent?: number;
  /** more is the cells of the further columns. */
  more?: string[];
}

/** Chip is a part of the class of a row. */
export interface Chip {
  /** class is "u", "a", "g", "d" (diverges), "few" (executions by one or two lanes) or "". */
  class: string;
  text: string;
  /** lead is the text before it, such as an arrow. */
  lead?: string;
}

/** Part is a part of a bar. */
export interface Part {
  class: string;
  /** kind is the word for the class, such as "strided". */
  kind: string;
  count: number;
  /** percent is the share as text, and width as a number. */
  percent: string;
  width: number;
}

/** Shares is a bar: its parts are empty if there was nothing to count. */
export interface Shares {
  name: string;
  parts: Part[];
}

export interface LaneCount {
  count: number;
  /** share is the share of all instructions in percent. */
  share: string;
}
