export interface Link { href: string; title: string }
export interface Block {
  type: string;
  text: string;
  items: any[];
  head: string[];
  rows: string[][];
}
export interface Page {
  path: string;
  title: string;
  byline?: string;
  blocks: Block[];
  related?: Link[];
}
