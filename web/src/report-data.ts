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
  /** sections is tables and charts, of a report without value structure. */
  sections: Section[];
}

/** Section is a part of a report. */
export interface Section {
  title: string;
  notes: string[];
  blocks: Block[];
}

/** Block is a table, or a chart with a table of the same values; or texts about lines. */
export interface Block {
  title: string;
  notes: string[];
  table?: Table;
  bars?: Bars;
  plot?: Plot;
  heat?: Heat;
  texts?: { place: string; code: string; list: string[] }[];
}

export interface Table {
  /** head is the columns; texts are aligned to the left. */
  head: (Column & { text?: boolean })[];
  rows: string[][];
}

/** Bars is horizontal bars of parts, one for each row. */
export interface Bars {
  /** series is the names of the parts; a single one needs no legend. */
  series: string[];
  rows: { name: string; text: string; values: number[] }[];
  /** most is the value of a bar of full length. */
  most: number;
}

/** Plot is lines over named places. */
export interface Plot {
  x: string;
  ticks: string[];
  /** unit is the text after the values. */
  unit: string;
  most: number;
  lines: { name: string; values: number[] }[];
}

/** Heat is a map of values by row and column. */
export interface Heat {
  rowName: string;
  columnName: string;
  unit: string;
  rows: string[];
  columns: string[];
  values: number[][];
  most: number;
  /** texts is the texts in the cells of a small map. */
  texts?: string[][];
  /** mark is the row and the column of the launch. */
  mark?: [number, number];
}

export interface Column {
  name: string;
  doc: string;
}

/** ReportListing is the lines of a function, or of a source file. */
export interface ReportListing {
  title: string;
  rows: Row[];
  /** plain is true for a file whose lines have the further columns only. */
  plain?: boolean;
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
