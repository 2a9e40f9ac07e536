import { use } from "../use.js";
import Client from "./client.js";

export const dynamic = "force-dynamic";

export default function Page() {
  return (
    <main>
      <p id="server">{use()}</p>
      <Client />
    </main>
  );
}
