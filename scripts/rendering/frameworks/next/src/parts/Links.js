import Link from "next/link";

export const Links = ({ items }) => (
  <ul>
    {items.map((item) => (
      <li key={item.href}><Link href={item.href}>{item.title}</Link></li>
    ))}
  </ul>
);
