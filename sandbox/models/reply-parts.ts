/** The building blocks of the sandbox's answers. */
type Choose = (count: number) => number;

const openings: readonly ((topic: string, word: string) => string)[] = [
  (topic, word) =>
    `You asked: “${topic}”. The short version: settle what **${word}** has to achieve first, then choose the smallest step that shows whether it works.`,
  (topic, word) => `On “${topic}”: most of it turns on **${word}**, so that is where I would look first.`,
  (topic, word) =>
    `“${topic}” has a plain answer and a careful one. The plain one: keep **${word}** simple, and change one thing at a time.`,
  (topic, word) =>
    `Taking “${topic}” at its word, three things matter: what **${word}** is for, who depends on it, and how you will notice when it goes wrong.`,
];

export const sentences: readonly ((word: string) => string)[] = [
  (word) => `Write down what you already know about ${word}, and the one question that is still open.`,
  (word) => `A good first version of ${word} fits on one page and can be thrown away without regret.`,
  () => "Decide beforehand what result would change your mind, because afterwards every result looks expected.",
  (word) => `If two people describe ${word} differently, the difference is usually the real task.`,
  () => "Leave a margin: the first estimate covers the work, seldom the waiting.",
  (word) => `Try ${word} on a small, real example before you try it on everything.`,
  () => "Keep a note of what you ruled out and why; it saves the same detour next month.",
  (word) => `Where ${word} costs money, put the figure next to the choice, so that both are seen together.`,
  () => "Ask somebody who will use the result, and listen for what they do not mention.",
  (word) => `Measure ${word} once before changing anything, or there is nothing to compare with.`,
  () => "The step that is easiest to undo is usually the right one to take first.",
  (word) => `Give ${word} a clear owner and a date on which it is looked at again.`,
  () => "When the plan and the facts disagree, change the plan the same day.",
  (word) => `Most trouble with ${word} begins at its edges: the empty case, the very large one, and the one that arrives twice.`,
  () => "Short sentences and exact numbers persuade better than adjectives.",
  (word) => `Once ${word} works, remove what turned out not to be needed.`,
  () => "Rest before the last review; tired eyes pass over what they wrote themselves.",
  (word) => `Explain ${word} to somebody new to it, and note every place where you have to stop and add something.`,
];

const closings = [
  "Ask again in other words and I will answer differently.",
  "Tell me which part to take further.",
  "Say “as a table” or “as a list” to see another form.",
  "A real model would know more; the way this answer reached you is the real one.",
];

const languages = [
  { name: "python", pattern: /\bpython\b/i, comment: "#" },
  { name: "typescript", pattern: /\b(typescript|ts)\b/i, comment: "//" },
  { name: "javascript", pattern: /\b(javascript|js|node)\b/i, comment: "//" },
  { name: "sql", pattern: /\b(sql|query|postgres\w*)\b/i, comment: "--" },
  { name: "bash", pattern: /\b(bash|shell|terminal)\b/i, comment: "#" },
] as const;

export function opening(topic: string, word: () => string, choose: Choose): string {
  const subject = word();
  return openings[choose(openings.length)]?.(topic, subject) ?? "";
}

export function closing(choose: Choose): string {
  return closings[choose(closings.length)] ?? "";
}

/** A code block, a table or a list, if the prompt asks for one. */
export function blockFor(prompt: string, keywords: readonly string[], choose: Choose): string | undefined {
  const subjects = keywords.length > 0 ? keywords.slice(0, 4) : ["scope", "method", "result"];
  if (/\b(code|function|script|snippet|regex|program|sql|python|typescript|javascript|bash)\b/i.test(prompt))
    return codeBlock(prompt, subjects[0] ?? "step");
  if (/\b(table|compare|comparison|versus|vs)\b/i.test(prompt)) return tableBlock(subjects, choose);
  if (/\b(list|steps?|bullets?|ideas?|checklist|plan)\b/i.test(prompt)) return listBlock(subjects);
  return undefined;
}

function codeBlock(prompt: string, subject: string): string {
  const language = languages.find((candidate) => candidate.pattern.test(prompt)) ?? languages[1];
  const name = /^[a-z]/.test(subject) ? subject.replace(/[^a-z0-9]/g, "") : "step";
  const bodies = {
    python: [
      `def ${name}(items: list[str]) -> list[str]:`,
      '    """Keep what is not blank, once each, in order."""',
      "    return list(dict.fromkeys(item.strip() for item in items if item.strip()))",
    ],
    typescript: [
      `export function ${name}Once(items: readonly string[]): string[] {`,
      '  const kept = items.map((item) => item.trim()).filter((item) => item !== "");',
      "  return [...new Set(kept)];",
      "}",
    ],
    javascript: [`export function ${name}Once(items) {`, "  return [...new Set(items.map((item) => item.trim()).filter(Boolean))];", "}"],
    sql: ["select name, count(*) as entries", `from ${name}_entries`, "group by name", "order by entries desc, name;"],
    bash: ["set -euo pipefail", `sort --unique "$1" > "${name}.txt"`, `wc -l "${name}.txt"`],
  } as const;
  return [`\`\`\`${language.name}`, `${language.comment} Sandbox answer: an example about ${name}`, ...bodies[language.name], "```"].join(
    "\n",
  );
}

function tableBlock(subjects: readonly string[], choose: Choose): string {
  const efforts = ["an hour", "an afternoon", "a day", "a week"];
  const rows = subjects.map((subject) => `| ${subject} | ${efforts[choose(efforts.length)]} | ${1 + choose(9)} |`);
  return ["| Part | Effort | Weight |", "| :--- | :--- | ---: |", ...rows].join("\n");
}

function listBlock(subjects: readonly string[]): string {
  const steps = [
    "Say in one sentence what it is for",
    "Try it on one real example",
    "Check the case that worries you",
    "Keep what worked and write it down",
  ];
  return steps.map((step, index) => `${index + 1}. **${subjects[index] ?? subjects[0]}**: ${step.toLowerCase()}.`).join("\n");
}
