// The driver's side of the line protocol. Reads one request per line and writes one answer per line, in the same order.

/**
 * Answers the lines of standard input until it ends. A batch contains all lines that have arrived since the last batch.
 */
export async function serve(answerAll) {
  let rest = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    if (lines.length === 0) continue;
    const answers = await answerAll(lines.map((line) => JSON.parse(line)));
    process.stdout.write(answers.map((answer) => `${JSON.stringify(answer)}\n`).join(""));
  }
}
