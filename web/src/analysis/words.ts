// Texts of the page itself in English and Japanese. Texts of the report are in its document.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { BoxWords } from '../charts/figure/frame';
import { THEME_ENGLISH, type ThemeWords } from '../theme_words';

export interface Words extends BoxWords, ThemeWords {
  product: string;
  skip: string;
  contents: string;
  headline: string;
  paper: (text: string) => string;
  inPaper: (text: string) => string;
  basedOn: (used: string, of: string, share: string) => string;
  basedOnAll: (of: string) => string;
  numbers: string;
  numbersOf: string;
  notAvailable: string;
  remarks: string;
  warning: string;
  note: string;
  hint: string;
  logOf: (axis: string) => string;
  logColors: string;
  linear: string;
  log: string;
  series: string;
  saveSvg: string;
  saveCsv: string;
  sortBy: (column: string) => string;
  showAll: (rows: string) => string;
  showFewer: string;
  about: string;
  aboutText: string[];
}

const ENGLISH: Words = {
  product: 'job history report',
  skip: 'Skip to the results',
  ...THEME_ENGLISH,
  contents: 'Contents',
  headline: 'At a glance',
  paper: (text) => `ABCI 2019: ${text}`,
  inPaper: (text) => `ABCI paper: ${text}`,
  basedOn: (used, of, share) => `based on ${used} of ${of} records (${share})`,
  basedOnAll: (of) => `based on all ${of} records`,
  numbers: 'Key figures',
  numbersOf: 'Data of this figure',
  notAvailable: 'Not available, and why',
  remarks: 'Notes on the input',
  warning: 'Warning',
  note: 'Note',
  hint: 'Point at the figure, or focus it and use the arrow keys.',
  logOf: (axis) => `Scale of ${axis}`,
  logColors: 'Colour scale',
  linear: 'linear',
  log: 'log',
  series: 'Series shown',
  saveSvg: 'SVG',
  saveCsv: 'CSV',
  sortBy: (column) => `Sort by ${column}`,
  showAll: (rows) => `Show all ${rows} rows`,
  showFewer: 'Show fewer rows',
  about: 'About this page',
  aboutText: [
    'This file is self-contained: it loads nothing from a network and stores nothing.',
    'SVG and CSV save a figure or a table as shown. Column names in CSV files are those of tables/*.csv.',
    'A dash marks an unknown value. It is never a zero.',
    'docs/analyze.md defines every figure.',
  ],
  median: 'median',
  mean: 'mean',
  quartiles: 'quartiles',
  whiskers: 'whiskers',
  records: 'records',
};

const JAPANESE: Words = {
  product: 'ジョブ実行履歴の分析',
  skip: '結果へ移動',
  toLight: '明るい配色にする',
  toDark: '暗い配色にする',
  light: '☀ 明',
  dark: '☾ 暗',
  contents: '目次',
  headline: '概要',
  paper: (text) => `ABCI 2019年度: ${text}`,
  inPaper: (text) => `ABCI論文: ${text}`,
  basedOn: (used, of, share) => `${of}件中${used}件 (${share}) による`,
  basedOnAll: (of) => `全${of}件による`,
  numbers: '主な数値',
  numbersOf: 'この図の数値',
  notAvailable: '求められなかった項目とその理由',
  remarks: '入力に関する注記',
  warning: '警告',
  note: '注記',
  hint: '図を指すか、選択して矢印キーを押すと値を表示します。',
  logOf: (axis) => `${axis}の目盛`,
  logColors: '色の目盛',
  linear: '線形',
  log: '対数',
  series: '表示',
  saveSvg: 'SVG',
  saveCsv: 'CSV',
  sortBy: (column) => `${column}で並べ替え`,
  showAll: (rows) => `全${rows}行を表示`,
  showFewer: '一部の行だけを表示',
  about: 'このページについて',
  aboutText: [
    'すべてのデータはこのファイルに含まれ、ネットワークには接続しません。',
    'SVG・CSVは表示中の図・表を保存します。CSVの列名はtables/*.csvと同じです。',
    '「–」は値が不明であることを示し、0ではありません。',
    '各図表の定義はdocs/analyze.mdにあります。',
  ],
  median: '中央値',
  mean: '平均',
  quartiles: '四分位',
  whiskers: 'ひげ',
  records: '件数',
};

export function wordsOf(language: string): Words {
  return language === 'ja' ? JAPANESE : ENGLISH;
}

export const WordsContext = createContext<Words>(ENGLISH);

export function useWords(): Words {
  return useContext(WordsContext);
}
