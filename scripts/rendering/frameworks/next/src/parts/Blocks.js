import Link from "next/link";

function Block({ block }) {
  switch (block.type) {
    case "h2":
      return <h2>{block.text}</h2>;
    case "ul":
      return <ul>{block.items.map((item) => <li key={item}>{item}</li>)}</ul>;
    case "table":
      return (
        <table>
          <thead><tr>{block.head.map((cell) => <th key={cell}>{cell}</th>)}</tr></thead>
          <tbody>
            {block.rows.map((row) => (
              <tr key={row[0]}>{row.map((cell) => <td key={cell}>{cell}</td>)}</tr>
            ))}
          </tbody>
        </table>
      );
    case "teasers":
      return (
        <ul className="teasers">
          {block.items.map((item) => (
            <li key={item.href}>
              <h3><Link href={item.href}>{item.title}</Link></h3>
              <p>{item.teaser}</p>
            </li>
          ))}
        </ul>
      );
    default:
      return <p>{block.text}</p>;
  }
}

export const Blocks = ({ blocks }) => blocks.map((block, i) => <Block key={i} block={block} />);
