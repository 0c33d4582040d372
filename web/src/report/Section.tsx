// A section of the report: a heading and how to read it.
import type { ComponentChildren } from 'preact';

interface SectionProps {
  id: string;
  title: string;
  howToRead: string;
  children: ComponentChildren;
}

export function Section({ id, title, howToRead, children }: SectionProps) {
  return (
    <section id={id} class="section" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      <p class="how">{howToRead}</p>
      {children}
    </section>
  );
}

export function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <figure class="panel">
      <figcaption>{title}</figcaption>
      {children}
    </figure>
  );
}
