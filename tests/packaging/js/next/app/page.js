import Client from "./client.js";
import { use } from "../use.js";

export const dynamic = "force-dynamic";

export default function Page() {
  return (
    <main>
      <p id="server">{use()}</p>
      <Client />
    </main>
  );
}
