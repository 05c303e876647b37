import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Answer,
  type Asked,
  bash,
  callOf,
  read,
  refusedAt,
  Session,
  told,
} from "./support.ts";

const fails = (text: string): Answer => ({ text, isError: true });
const page = (from: number, lines: number) =>
  Array.from({ length: lines }, (_, i) => `line ${from + i} holds ${(from + i) * 7919}`).join("\n");

describe("an identical call", () => {
  it("is refused the sixth time when five answers were the same", () => {
    assert.equal(
      refusedAt(9, bash("ls -R"), () => "a\nb"),
      6,
    );
  });

  it("is refused the fifth time when it failed the same way four times", () => {
    assert.equal(
      refusedAt(9, bash("./deploy"), () => fails("error: no token in vault")),
      5,
    );
  });

  it("is refused the fourth time when it reaches somebody outside", () => {
    const post = { tool: "post_comment", input: { issue: 4, body: "done" } };
    assert.equal(
      refusedAt(9, post, (i) => `Posted as comment ${5000 + i * 3}`),
      4,
    );
  });

  it("to somebody outside is the same though its answer counts on", () => {
    const send = { tool: "send_mail", input: { to: "a", body: "b" } };
    assert.equal(
      refusedAt(9, send, (i) => `Delivered as ${17 + i * 5} to the outbox`),
      4,
    );
  });

  it("that measures may give another number each time", () => {
    assert.equal(
      refusedAt(11, bash("ping -c1 host"), (i) => `time=${10 + ((i * 7) % 13)}.2 ms`),
      0,
    );
    assert.equal(
      refusedAt(11, bash("ping -c1 host"), () => fails("unknown host")),
      5,
    );
  });

  it("that makes something is the same though what it makes has another number", () => {
    const create = { tool: "create_ticket", input: { title: "Printer" } };
    assert.equal(
      refusedAt(9, create, (i) => `Created TICKET-${900 + i}`),
      7,
    );
  });

  it("runs on as long as every answer is another", () => {
    assert.equal(
      refusedAt(30, bash("./next"), (i) => `found ${"x".repeat(i)}`),
      0,
    );
  });

  it("is the same with other spaces, comments, quiet flags and redirects", () => {
    const session = new Session();
    const ways = [
      "make all",
      "make  all ",
      "make all # again",
      "make all 2>&1",
      "make -s all | tail -5",
    ];
    for (const way of ways) assert.equal(session.call(bash(way), "up to date since noon"), true);
    assert.equal(session.call(bash("cd . && make all"), "up to date since noon"), false);
  });

  it("is the same with another remark, another order and spelling of its arguments", () => {
    const session = new Session();
    const look = (note: string, path: string): Asked => ({
      tool: "inspect",
      input: { description: note, file: path, deep: { b: [1, true, null], a: " x  y " } },
    });
    for (const note of ["one", "two", "three", "four", "five"]) {
      assert.equal(session.call(look(note, `./src//${"a"}.ts`), "fine as it is"), true);
    }
    const other = {
      tool: "inspect",
      input: { deep: { a: "x y", b: [1, true, null] }, file: "src/a.ts" },
    };
    assert.equal(session.call(other, "fine as it is"), false);
  });

  it("may run again after the user spoke", () => {
    const session = new Session();
    for (let i = 0; i < 5; i++) session.call(bash("ls"), "a");
    assert.equal(session.prompt().call(bash("ls"), "a"), true);
  });

  it("may run again after a change that succeeded, and not after one that failed", () => {
    const edit = (to: string) => ({ tool: "edit", input: { path: "a.ts", to } });
    const session = new Session();
    for (let i = 0; i < 5; i++) session.call(bash("npm test"), "1 failing");
    session.call(edit("x"), fails("Could not find the text"));
    assert.equal(session.call(bash("npm test"), "1 failing"), false);
    session.call(edit("y"), "Edited.");
    assert.equal(session.call(bash("npm test"), "1 failing"), true);
  });

  it("is not made fresh by a change that was made before", () => {
    const session = new Session();
    const runs = Array.from({ length: 12 }, () => [
      session.call({ tool: "write", input: { path: "a.ts", content: "1" } }, "Written."),
      session.call(bash("npm test"), "1 failing"),
    ]);
    assert.ok(runs.flat().includes(false));
  });

  it("counts once it is asked for, though nothing came back yet", () => {
    const session = new Session();
    const seven = Array.from({ length: 7 }, () => [bash("ls -R"), "a\nb"] as const);
    assert.equal(session.batch(seven), 5);
  });

  it("does not count when somebody else kept it from running", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++) {
      const call = callOf(bash("ls"));
      assert.equal(session.policy.observe({ kind: "call", call }), undefined);
      session.policy.observe({ kind: "admitted", call });
      session.policy.observe({
        kind: "result",
        call,
        ran: false,
        isError: true,
        text: "no",
        at: 0,
      });
    }
  });

  it("that looks is refused in spite of other work in between, if it comes within twenty calls", () => {
    const session = new Session();
    const admitted: boolean[] = [];
    for (let i = 0; i < 8; i++) {
      admitted.push(session.call(read("a.ts"), "a"));
      session.call(read(`new${i}.ts`), page(i * 50, 9));
    }
    assert.deepEqual(admitted.slice(0, 6), [true, true, true, true, true, false]);
  });

  it("that fails is refused the fifth time, whatever is looked at in between", () => {
    const session = new Session();
    const admitted: boolean[] = [];
    for (let i = 0; i < 8; i++) {
      admitted.push(session.call(bash("make"), fails("E: no rule to make target")));
      session.call(read(`new${i}.ts`), page(i * 50, 9));
    }
    assert.equal(admitted.indexOf(false), 4);
  });

  it("that looks once in a while between other work is left alone", () => {
    const session = new Session();
    for (let round = 0; round < 8; round++) {
      assert.equal(session.call(read("a.ts"), "a"), true);
      for (let i = 0; i < 5; i++)
        session.call(read(`new${round}-${i}.ts`), page(round * 500 + i * 50, 9));
    }
  });

  it("that acts is part of the work as long as each round brings something", () => {
    const session = new Session();
    for (let i = 0; i < 16; i++) {
      assert.equal(session.call(bash("./stop"), "stopped"), true);
      assert.equal(session.call(bash("./start"), `started, pid ${4000 + i}`), true);
      assert.equal(
        session.call(bash(`curl -s localhost/items/${i}`), `item ${"ab".repeat(i)}`),
        true,
      );
    }
  });
});

describe("an answer", () => {
  const noisy: [string, (i: number) => string][] = [
    ["a time", (i) => `Mon Mar  2 10:${10 + i}:00 UTC 2026 failed`],
    ["a duration", (i) => `failed after ${i + 1}.3s`],
    ["a request number", (i) => `no answer to request #${300 + i}`],
    ["an attempt", (i) => `gave up at attempt ${i + 1} without a word`],
    ["an id", (i) => `trace ${(0x9f3a1c + i * 77).toString(16)}d41 refused`],
    ["a port", (i) => `127.0.0.1:${49152 + i} refused`],
    [
      "a field of a record",
      (i) => `{"error":"quota","request_id":${7000 + i},"took_ms":${31 + i}}`,
    ],
  ];
  for (const [what, answer] of noisy) {
    it(`is not new because of ${what}`, () => {
      assert.notEqual(
        refusedAt(9, bash("./run"), (i) => fails(answer(i))),
        0,
      );
    });
  }

  const telling: [string, (i: number) => string][] = [
    ["a percentage", (i) => `${i}%`],
    ["a count of what is done", (i) => `${i} of 40 files`],
    ["rows in a result", (i) => `rows: ${i * 12}`],
    ["a longer log", (i) => page(0, i + 1)],
    ["a position in a queue", (i) => `{"state":"queued","left":${40 - i}}`],
  ];
  for (const [what, answer] of telling) {
    it(`is new because of ${what}`, () => {
      assert.equal(refusedAt(30, bash("./run"), answer), 0);
    });
  }

  it("in which only a bare number changes gives a notice and no refusal", () => {
    const session = new Session();
    for (let i = 0; i < 13; i++)
      assert.equal(session.call(bash("./load"), `load ${i * 13 + 2}`), true);
    assert.equal(session.found[0]?.response.kind, "notice");
    assert.equal(session.found[0]?.advice.key, "MSG_NOTICE");
  });
});

describe("waiting", () => {
  it("for a state that does not change is refused the ninth time", () => {
    assert.equal(
      refusedAt(20, bash("job 7"), () => "pending"),
      9,
    );
  });

  it("with sleep in between is refused later", () => {
    assert.equal(
      refusedAt(20, bash("sleep 30; job 7"), () => "pending"),
      13,
    );
  });

  it("for a service that is not up yet has the same patience", () => {
    const refused = fails("curl: (7) Failed to connect to localhost: Connection refused");
    assert.equal(
      refusedAt(20, bash("curl -s localhost:3000"), () => refused),
      9,
    );
  });

  it("is no excuse for a test that says how it failed", () => {
    const answer = fails("assert failed: expected 200, got timed out");
    assert.equal(
      refusedAt(20, bash("npm test"), () => answer),
      5,
    );
  });

  it("with a word for a fault beside it is no waiting", () => {
    assert.equal(
      refusedAt(20, bash("./queue"), () => "still running, 2 failed, error log kept"),
      6,
    );
  });

  it("asks a status tool that only says ok as patiently", () => {
    const status = { tool: "job_status", input: { id: 7 } };
    assert.equal(
      refusedAt(20, status, () => "ok"),
      9,
    );
  });

  it("by sleeping alone ends, too", () => {
    assert.equal(
      refusedAt(30, bash("sleep 60"), () => ""),
      13,
    );
  });

  it("by sleeping between short answers is no loop for a while", () => {
    const session = new Session();
    for (let i = 0; i < 6; i++) {
      assert.ok(session.call(bash(`sleep ${10 * i + 5}`), ""));
      assert.ok(session.call(bash("dig +short new.example"), ""));
    }
    assert.ok(session.call(bash("dig +short new.example"), "203.0.113.9"));
  });

  it("for six jobs in turn is left alone while they move", () => {
    const session = new Session();
    for (let round = 0; round < 4; round++) {
      for (let job = 0; job < 6; job++) {
        const text = job < 4 && round >= job ? `finished with ${job * 31} rows` : "running";
        assert.equal(session.call({ tool: "job_status", input: { id: job } }, text), true);
      }
    }
  });

  it("a key that is pressed, or a page that is scrolled, may be repeated a dozen times", () => {
    assert.equal(
      refusedAt(20, { tool: "press_key", input: { key: "Down" } }, () => "ok"),
      13,
    );
    const scroll = { tool: "browser", input: { action: "scroll_down" } };
    assert.equal(
      refusedAt(20, scroll, () => "ok"),
      13,
    );
  });
});

describe("a cycle", () => {
  const steps = (length: number) =>
    Array.from(
      { length },
      (_, i) =>
        [bash(`./step-${"abcdefghijklmnopqrst"[i]}`), `answer ${"xyz".repeat(i + 1)}`] as const,
    );

  for (let length = 2; length <= 20; length++) {
    it(`of ${length} calls is refused in its third or fourth round`, () => {
      const session = new Session();
      let calls = 0;
      const once = () =>
        steps(length).every(([asked, answer]) => session.call(asked, answer) && ++calls > 0);
      while (calls < 200 && once());
      assert.ok(calls >= 2 * length, `refused after ${calls}`);
      assert.ok(calls <= Math.max(3 * length, 2 * length + 4), `refused after ${calls}`);
    });
  }

  it("of two reads is reported as reading again", () => {
    const session = new Session();
    while (session.call(read("a.ts"), "a") && session.call(read("b.ts"), "b"));
    assert.equal(session.found[0]?.event, "redundant_reread");
  });

  it("whose answers change is work", () => {
    const session = new Session();
    for (let round = 0; round < 12; round++) {
      for (const [asked, answer] of steps(3))
        assert.ok(session.call(asked, `${answer} ${"r".repeat(round)}`));
    }
  });
});

describe("reading", () => {
  it("on through a file is never reading again", () => {
    const session = new Session();
    for (let i = 0; i < 30; i++)
      assert.ok(session.call(read("big.ts", 1 + i * 50, 60), page(i * 50, 60)));
  });

  it("what was shown, by ever different ranges, is refused", () => {
    const session = new Session();
    session.call(read("big.ts"), page(0, 400));
    const admitted = Array.from({ length: 9 }, (_, i) =>
      session.call(read("big.ts", 5 + i, 40), page(5 + i, 40)),
    );
    assert.equal(admitted.indexOf(false), 5);
    assert.equal(session.found[0]?.event, "redundant_reread");
  });

  it("the same lines with another program is reading again", () => {
    const session = new Session();
    const ways = [
      "cat app.ini",
      "head -n 40 app.ini",
      "sed -n '1,40p' app.ini",
      "cat ./app.ini",
      "sed -n 3p app.ini",
    ];
    for (const way of ways) session.call(bash(way), page(0, 40));
    session.call(read("app.ini"), page(0, 40));
    assert.equal(session.call(bash("head -5 app.ini"), page(0, 5)), false);
  });

  it("a file of the same name in another folder is reading another file", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++) assert.ok(session.call(read(`m${i}/index.ts`), page(i * 40, 9)));
  });

  it("is fresh after the model lost what it saw", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++) {
      assert.ok(session.call(read(`${i % 4}.ts`), page(i % 4, 9)));
      if (i % 4 === 3) session.policy.observe({ kind: "context_lost" });
    }
  });

  it("a longer and longer end of a file shows new lines", () => {
    const session = new Session();
    for (let i = 1; i < 9; i++)
      assert.ok(session.call(bash(`tail -n ${i * 10} run.log`), page(500 - i * 10, i * 10)));
    assert.equal(session.call(bash("tail -n 5 run.log"), page(495, 5)), true);
  });

  it("an excerpt that says it is cut does not show the end", () => {
    const session = new Session();
    session.call(read("big.ts", 1, 500), `${page(0, 50)}\n[... 400 more lines]`);
    for (let i = 1; i < 9; i++)
      assert.ok(session.call(read("big.ts", 60 * i, 40), page(60 * i, 40)));
  });

  it("several files with one command is judged by the command alone", () => {
    assert.equal(
      refusedAt(9, bash("cat a.txt b.txt"), () => "a\nb"),
      6,
    );
  });

  it("many small files that are equal is no loop", () => {
    const session = new Session();
    for (let i = 0; i < 20; i++) assert.ok(session.call(read(`p${i}/__init__.py`), ""));
  });
});

describe("searching", () => {
  const hits = "docs/a.md:4: tries\nsrc/http.py:88: MAX_TRIES = 5";
  const search = (query: string): Asked => ({ tool: "semantic_search", input: { query } });

  it("in other words with the same hits is refused after four", () => {
    const session = new Session();
    const words = ["retry limit", "max retries", "how often", "number of tries", "upper bound"];
    assert.deepEqual(
      words.map((w) => session.call(search(w), hits)),
      [true, true, true, true, false],
    );
    assert.equal(session.found[0]?.event, "search_spiral");
    assert.equal(session.call(search("something else"), "lib/x.py:1: y"), true);
  });

  it("that finds something new each time is never refused", () => {
    const session = new Session();
    for (let i = 0; i < 20; i++)
      assert.ok(session.call(search(`word ${i}`), `${hits}\nsrc/m${i}.py:3: new`));
  });

  it("by the same addresses counts as the same hits", () => {
    const session = new Session();
    const answer = (i: number) =>
      `{"took":${i},"results":[{"url":"https://x.example/a","score":0.${i + 11}}]}`;
    const admitted = [0, 1, 2, 3, 4].map((i) => session.call(search(`q${i}`), answer(i)));
    assert.deepEqual(admitted, [true, true, true, true, false]);
  });

  it("in narrower and narrower places weighs half", () => {
    const session = new Session();
    const all = Array.from({ length: 12 }, (_, i) => `src/f${i}.py:3: TODO`);
    for (let i = 0; i < 6; i++) {
      assert.ok(
        session.call({ tool: "grep", input: { pattern: `TODO${i}` } }, all.slice(i).join("\n")),
      );
    }
  });

  it("for what is not there is refused after eight", () => {
    const session = new Session();
    const admitted = Array.from({ length: 9 }, (_, i) =>
      session.call(search(`name${i}`), "No matches found"),
    );
    assert.equal(admitted.indexOf(false), 8);
    assert.equal(session.call(search("other"), "a.py:1: found"), true);
  });

  it("with grep, which fails without a word, counts as finding nothing", () => {
    const session = new Session();
    const nothing = fails("\n\nCommand exited with code 1");
    const admitted = Array.from({ length: 10 }, (_, i) =>
      session.call(bash(`grep -rn name${i} src`), nothing),
    );
    assert.equal(admitted.indexOf(false), 8);
  });

  it("folders that hold the same names is no loop", () => {
    const session = new Session();
    for (const name of "abcdefgh") {
      assert.ok(session.call(bash(`ls packages/${name}`), "index.ts\npackage.json"));
      assert.ok(
        session.call({ tool: "list_dir", input: { path: name } }, "index.ts\npackage.json"),
      );
    }
  });

  it("is forgiven by reading something new in between", () => {
    const session = new Session();
    for (let i = 0; i < 8; i++) {
      assert.ok(session.call(search(`q${i}`), hits));
      session.call(read(`f${i}.ts`), page(i * 40, 30));
    }
  });

  it("lines that lead in are no hits", () => {
    const session = new Session();
    const answer = (q: string) => `Found 1 result for ${q}\nthe one line that matters`;
    assert.equal(
      ["a", "b", "c", "d", "e"].map((q) => session.call(search(q), answer(q))).indexOf(false),
      4,
    );
  });
});

describe("failing", () => {
  it("with the same fault of the surroundings is refused after three, whatever the arguments", () => {
    const session = new Session();
    const search = (query: string) => ({ tool: "search", input: { query } });
    const admitted = ["a", "a b", "a b c", "d"].map((q) =>
      session.call(search(q), fails("HTTP 401: invalid API key")),
    );
    assert.deepEqual(admitted, [true, true, true, false]);
    assert.match(told(session.found[0]), /401/);
    assert.equal(session.call(search("e"), "1. found"), true);
  });

  it("with the same fault of the surroundings is so though the fault names what was asked for", () => {
    const session = new Session();
    const search = (query: string) => ({ tool: "search", input: { query } });
    const answer = (q: string) => fails(`403 Forbidden: may not search for ${q} ("${q}")`);
    const asked = ["tides", "moon and tides", "ebb and flow", "high water"];
    assert.equal(asked.map((q) => session.call(search(q), answer(q))).indexOf(false), 3);
  });

  it("with the same other fault is refused after four", () => {
    const session = new Session();
    const admitted = ["make", "make -j4", "make V=1", "make all", "make -B"].map((c) =>
      session.call(bash(c), fails("x.c:14: unknown type name frob_t")),
    );
    assert.equal(admitted.indexOf(false), 4);
  });

  it("is forgotten when something changes", () => {
    const session = new Session();
    const fault = fails("x.c:14: unknown type name frob_t");
    for (let i = 0; i < 4; i++) session.call(bash(`make -j${i}`), fault);
    session.call({ tool: "edit", input: { path: "x.c", to: "frob" } }, "Edited.");
    assert.equal(session.call(bash("make all"), fault), true);
  });

  it("to edit what is not there is refused after five", () => {
    const session = new Session();
    const edit = (i: number) => ({ tool: "edit", input: { path: "a.ts", old: `x${i}` } });
    const admitted = Array.from({ length: 7 }, (_, i) =>
      session.call(edit(i), fails("Could not find the text")),
    );
    assert.equal(admitted.indexOf(false), 5);
  });

  it("in passing is given more time", () => {
    const session = new Session();
    const admitted = Array.from({ length: 12 }, (_, i) =>
      session.call(bash(`curl -m ${i} x.example`), fails("Operation timed out")),
    );
    assert.equal(admitted.indexOf(false), 9);
  });

  it("in different ways is honest trying", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++)
      assert.ok(session.call(bash(`try-${i}`), fails(`E${i * 37}: ${"no".repeat(i + 1)}`)));
  });

  it("without a word tells nothing", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++)
      assert.ok(session.call(bash(`check ${i}`), fails("Command exited with code 1")));
  });

  it("is over with the first success of the same program", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++) {
      const works = i % 3 === 2;
      assert.ok(
        session.call(
          bash(`tool ${i}`),
          works ? `done ${"z".repeat(i)}` : fails("no such target here"),
        ),
      );
    }
  });
});

describe("nearly the same question", () => {
  const fetch = (i: number) => ({
    tool: "web_fetch",
    input: { url: `https://d.example/log?r=${i}` },
  });
  const answer = "This page needs a subscription. Please sign in to go on reading the log.";

  it("with the same long answer is refused after five", () => {
    const session = new Session();
    const admitted = Array.from({ length: 8 }, (_, i) => session.call(fetch(i), answer));
    assert.equal(admitted.indexOf(false), 5);
  });

  it("may be asked again when something has changed", () => {
    const session = new Session();
    for (let i = 0; i < 5; i++) session.call(fetch(i), answer);
    session.call({ tool: "edit", input: { path: "login.txt", to: "me" } }, "Edited.");
    assert.equal(session.call(fetch(5), answer), true);
  });

  it("does not keep another question from being asked", () => {
    const session = new Session();
    for (let i = 0; i < 5; i++) session.call(fetch(i), answer);
    assert.equal(session.call({ tool: "web_fetch", input: { url: "mailto:x" } }, answer), true);
  });

  it("with a short answer, another answer, or asked differently, is left alone", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++) assert.ok(session.call(fetch(i), "clear"));
    for (let i = 0; i < 12; i++)
      assert.ok(session.call(fetch(i + 50), `${answer} ${"x".repeat(i)}`));
    const words = ["apples", "Zürich?", "q", "1234567890", "moon landing", "xyz", "BBB"];
    for (const url of words) assert.ok(session.call({ tool: "web_fetch", input: { url } }, answer));
  });

  it("by a tool that acts is work", () => {
    const session = new Session();
    for (let i = 0; i < 12; i++)
      assert.ok(session.call({ tool: "process_item", input: { id: i } }, answer));
  });
});

describe("what comes out of turn", () => {
  it("is taken as it comes", () => {
    const session = new Session();
    const call = callOf(bash("ls"));
    session.policy.observe({ kind: "result", call, ran: true, isError: false, text: "a", at: 0 });
    session.policy.observe({ kind: "refused", call });
    assert.equal(session.call(bash("ls"), "a"), true);
  });

  it("an answer that arrives after the files changed belongs to the new state", () => {
    const session = new Session();
    const write = { tool: "write", input: { path: "a", content: "1" } };
    for (let i = 0; i < 4; i++) {
      const both = [
        [{ ...write, input: { path: `a${i}`, content: "1" } }, "Written."],
        [bash("ls"), "a"],
      ] as const;
      assert.equal(session.batch(both), 2);
    }
  });

  it("reading without a path is known by its query", () => {
    const session = new Session();
    const page = (n: number) => ({ tool: "read_page", input: { n } });
    while (session.call(page(1), "one") && session.call(page(2), "two"));
    assert.equal(session.found[0]?.event, "redundant_reread");
  });
});
