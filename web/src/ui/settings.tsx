// SPDX-License-Identifier: MIT
// A form of options, generated from the table of the command line.
import { useSignal } from "@preact/signals";
import type { Option } from "../server/types";

interface Props {
    readonly id: string;
    readonly options: readonly Option[];
    readonly values: Readonly<Record<string, string>>;
    readonly change: (name: string, value: string) => void;
    /** Separates several values of one option; a document has no options that name a unit. */
    readonly between?: "\n" | " | ";
}

/** The common options; the rest is found by the filter or by opening its group. */
const COMMON = ["step", "coupling", "control", "rtol", "extrapolate", "output-step", "realtime", "threads", "processes", "record"];

export function SettingsForm({ id, options, values, change, between = "\n" }: Props) {
    const filter = useSignal("");
    const wanted = filter.value.toLowerCase();
    const known = new Set(options.map((option) => option.name));
    const fits = (option: Option) => `${option.name} ${option.help}`.toLowerCase().includes(wanted);
    const first = options.filter((option) => COMMON.includes(option.name) || option.name in values);
    const rest = options.filter((option) => !first.includes(option));
    const groups = [...new Set(rest.map((option) => option.group ?? "Others"))];
    const field = (option: Option) => <Field key={option.name} id={id} option={option} value={values[option.name] ?? ""} change={change} between={between} />;
    return (
        <div class="settings">
            <input type="search" data-focus placeholder={`Search ${options.length} options`} aria-label="Search options" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
            {wanted !== "" ? options.filter(fits).map(field) : <>
                {first.map(field)}
                {Object.keys(values).filter((name) => !known.has(name)).map((name) => field({ name, kind: "TEXT", help: "not known to this version of Tutti; kept as it is" }))}
                {groups.map((group) => <details key={group}><summary>{group.charAt(0).toUpperCase()}{group.slice(1)}</summary>{rest.filter((option) => (option.group ?? "Others") === group).map(field)}</details>)}
            </>}
        </div>
    );
}

function Field({ id, option, value, change, between }: { id: string; option: Option; value: string; change: Props["change"]; between: string }) {
    const { name, help } = option;
    const input = `${id}-${name}`;
    const set = (event: { currentTarget: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement }) => change(name, event.currentTarget.value.trim());
    const words = option.words ?? [];
    const kind = option.kind.toUpperCase();
    const flag = kind === "FLAG";
    const lines = value.split(between);
    const several = option.repeatable && (between === "\n" || kind === "TEXTS");
    return (
        <div class={`option${value !== "" ? " given" : ""}${flag ? " flag" : ""}`} title={help}>
            <label for={input}>{name}</label>
            {flag ? <input id={input} type="checkbox" checked={value !== "" && value !== "false"} onChange={(event) => change(name, event.currentTarget.checked ? "true" : "")} />
                : words.length > 0 ? (
                    <select id={input} value={value} onChange={set}>
                        <option value="">{option.default ? `${option.default} (default)` : "default"}</option>
                        {words.map((word) => <option key={word.word} value={word.word} title={word.help ?? ""}>{word.word}</option>)}
                    </select>)
                : several ? <textarea id={input} rows={lines.length} value={lines.join("\n")} placeholder={kind === "STEP" ? `${option.argument}, or UNIT=${option.argument} in lines` : option.argument ? `${option.argument}, one per line` : "one per line"}
                    onChange={(event) => change(name, event.currentTarget.value.split("\n").map((line) => line.trim()).filter(Boolean).join(between))} />
                : <input id={input} value={value} placeholder={option.default ?? option.argument ?? ""} inputMode={kind === "NUMBER" || kind === "TIME" ? "decimal" : "text"} onChange={set} />}
        </div>
    );
}
