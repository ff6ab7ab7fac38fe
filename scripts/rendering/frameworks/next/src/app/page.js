import { PageView } from "../parts/PageView";

export default function Home() {
  return <PageView path="/" />;
}
