import { PageView } from "../../parts/PageView";

export default function About() {
  return <PageView path="/about" />;
}
