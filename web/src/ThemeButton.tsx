// The button that switches between the light and the dark theme.
import { toggleTheme, useTheme } from './theme';
import { THEME_ENGLISH, type ThemeWords } from './theme_words';

export function ThemeButton({ words = THEME_ENGLISH }: { words?: ThemeWords }) {
  const dark = useTheme() === 'dark';
  return (
    <button type="button" class="theme" onClick={toggleTheme} aria-label={dark ? words.toLight : words.toDark}>
      {dark ? words.light : words.dark}
    </button>
  );
}
