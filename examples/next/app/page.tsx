import { sno } from "polyflake";
import { findOrders } from "../shop";

export const dynamic = "force-dynamic";

export default async function Page() {
  const now = Date.now();
  const made = await findOrders(now - 86_400_000, now + 1000);
  return (
    <ul>
      {made.map(({ id, item }) => (
        <li key={id} id={id}>{`${item}, ${sno.parse(id).timestamp.toISOString()}`}</li>
      ))}
    </ul>
  );
}
