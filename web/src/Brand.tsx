// Logo, product name and kind of page.

export function Brand({ product }: { product: string }) {
  return (
    <p class="brand">
      <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
        <path d="M1 7h20M1 15h20M7 1v20M15 1v20" stroke="currentColor" opacity="0.45" />
        <circle cx="7" cy="7" r="4" fill="currentColor" />
        <circle cx="15" cy="15" r="3.5" fill="var(--surface)" stroke="currentColor" />
      </svg>
      Goban <span>{product}</span>
    </p>
  );
}
