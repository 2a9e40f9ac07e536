"use client";
import { useEffect, useState } from "react";
import { use } from "../use.js";

/** A component that is rendered on the server first, and then used in the browser. */
export default function Client() {
  const [rendered] = useState(use);
  const [machine, setMachine] = useState("");
  useEffect(() => setMachine(use()), []);
  return (
    <p id="client" suppressHydrationWarning title={rendered}>
      {machine}
    </p>
  );
}
