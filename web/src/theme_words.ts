// Texts of the theme button.

export interface ThemeWords {
  toLight: string;
  toDark: string;
  light: string;
  dark: string;
}

export const THEME_ENGLISH: ThemeWords = {
  toLight: 'Use light colours',
  toDark: 'Use dark colours',
  light: '☀ Light',
  dark: '☾ Dark',
};
