// SPDX-License-Identifier: MIT
// The server's answers: the JSON of /api/.

import type { Document, Terminal } from "../model/document";

export interface ServerInfo {
    readonly version: string;
    readonly folder: string;
    readonly readOnly: boolean;
    readonly file: string | null;
    readonly attached: boolean | string | null;
}

export interface FileEntry {
    readonly name: string;
    readonly kind: "folder" | "fmu" | "ssp" | "table" | "result" | "other" | "import";
    readonly size: number;
    readonly modified: string | number;
}

export interface FmuVariable {
    readonly name: string;
    readonly type: string;
    readonly causality: string;
    readonly variability?: string;
    readonly unit?: string;
    readonly description?: string;
    readonly start?: string | number | boolean | null | readonly (string | number | boolean)[];
    readonly min?: number;
    readonly max?: number;
    /** Numbers, or names of structural parameters with the numbers. */
    readonly dimensions?: readonly (number | string)[];
}

export interface FmuInfo {
    readonly modelName: string;
    readonly fmiVersion: string;
    readonly description?: string;
    readonly generationTool?: string;
    readonly interfaces: Readonly<Record<string, unknown>>;
    readonly defaultExperiment?: { readonly start?: number; readonly stop?: number; readonly step?: number };
    readonly variables: readonly FmuVariable[];
    readonly terminals?: readonly Terminal[];
}

export interface Finding {
    readonly level: string;
    readonly element?: string | null;
    readonly connector?: string | null;
    readonly connection?: { readonly from: string; readonly to: string } | string | null;
    readonly text: string;
}

export interface Conversion {
    readonly connection: { readonly from: string; readonly to: string };
    readonly element?: string | null;
    readonly text: string;
}

export interface GraphNode {
    readonly unit: string;
    readonly variable: string;
    readonly kind: string;
    readonly needs: readonly number[];
    readonly loop: number | null;
}

export interface DependencyGraph {
    readonly nodes: readonly GraphNode[];
    readonly loops: readonly unknown[];
    readonly order: readonly { readonly action: string; /** undefined: of several, a loop is solved */ readonly unit?: string; readonly nodes: readonly number[] }[];
    readonly evaluations?: number;
    readonly evaluations_one_by_one?: number;
}

export interface Look {
    readonly findings: readonly Finding[];
    readonly conversions: readonly Conversion[];
    readonly graph: DependencyGraph | null;
}

export interface Stable {
    readonly stable: boolean;
    readonly radius: number | null;
}

/** Of one coupling: `largest` is the largest step size up to which all are stable. */
export interface StableAtStep extends Stable {
    readonly largest: number | null;
    readonly any_step: boolean;
}

/** Of each coupling, with held, linear and quadratic inputs. */
export interface AnalysisAtStep {
    readonly h: number;
    readonly exact: number | null;
    readonly why_not: string | null;
    readonly jacobi?: readonly (StableAtStep | null)[];
    readonly smooth?: readonly (StableAtStep | null)[];
    readonly correct?: readonly (StableAtStep | null)[];
    readonly seidel?: readonly (StableAtStep | null)[];
    readonly relax?: readonly (StableAtStep | null)[];
}

export interface Analysis {
    readonly order: readonly { readonly do: string; readonly variables: readonly string[] }[];
    readonly loops: readonly unknown[];
    readonly rho: number | null;
    readonly stability: readonly Readonly<Record<string, Stable | string | null>>[];
    readonly step: AnalysisAtStep | null;
    readonly choices: Readonly<Record<string, { readonly value: string; readonly reason: string } | boolean>>;
    readonly failure: string | null;
    readonly placement: null | {
        readonly balance: number;
        readonly ranks: readonly { readonly rank: number; readonly units: readonly string[]; readonly share: number }[];
    };
}

export type RunState = "starting" | "running" | "paused" | "done" | "interrupted" | "failed" | "lost";

export interface Column {
    readonly name: string;
    readonly type?: string;
    readonly unit?: string | null;
    readonly description?: string | null;
    /** Values are held until the next row. */
    readonly held?: boolean;
}

export interface UnitStatistics {
    readonly name: string;
    readonly rank?: number;
    readonly seconds: number;
    readonly do_steps?: number;
    readonly rollbacks?: number;
    readonly interface?: string;
    readonly fmi?: string;
}

export interface Statistics {
    readonly steps?: number;
    readonly rejected?: number;
    readonly coupling?: string;
    readonly control?: string;
    readonly extrapolate?: string;
    readonly events?: string;
    readonly fabric?: string;
    readonly ranks?: number;
    readonly loop_seconds?: number;
    readonly setup_seconds?: number;
    readonly events_located?: number;
    readonly reasons?: Readonly<Record<string, string>>;
    readonly units?: readonly UnitStatistics[];
}

export interface Message {
    readonly level: string;
    readonly origin?: string | null;
    readonly text: string;
}

export interface Run {
    readonly id: string;
    readonly state: RunState;
    readonly file: string | null;
    readonly options: Readonly<Record<string, string | readonly string[] | boolean>>;
    readonly command: string;
    readonly begun: string | number | null;
    readonly seconds: number | null;
    readonly time: number | null;
    readonly start?: number | null;
    readonly stop: number | null;
    readonly message: string | null;
    readonly columns?: readonly Column[];
    readonly statistics?: Statistics | null;
    readonly messages?: readonly Message[];
    readonly document?: Document;
}

/** Lines of columns: null where they are interrupted. */
export interface Series {
    readonly columns: readonly Column[];
    readonly rows: number;
    readonly from: number | null;
    readonly to: number | null;
    /** The final value of each column. */
    readonly last: readonly (readonly (number | null)[])[];
    readonly lines: readonly { readonly x: (number | null)[]; readonly y: (number | null)[] }[];
}

/** For each column a list, by time. */
export interface Values {
    readonly columns: readonly Column[];
    readonly values: readonly (readonly (number | null)[])[];
}

export interface Steps {
    readonly times: readonly number[];
    readonly steps: readonly (number | null)[];
    readonly errors: readonly (number | null)[];
    readonly events?: readonly number[];
}

export interface Option {
    readonly name: string;
    readonly kind: string;
    readonly default?: string | null;
    readonly words?: readonly { readonly word: string; readonly help?: string }[] | null;
    readonly help: string;
    readonly group?: string;
    readonly argument?: string | null;
    readonly annotation?: "system" | "unit" | null;
    readonly repeatable?: boolean;
}

export interface Comparison {
    readonly agree: boolean;
    readonly compared: number;
    readonly disagreements: number;
    readonly rtol: number;
    readonly variables: readonly {
        readonly name: string;
        readonly unit: string | null;
        readonly agrees: boolean;
        readonly error: number;
        readonly allowed: number;
        readonly time: number;
        readonly result: number | null;
        readonly reference: number | null;
    }[];
    readonly only_in_result: readonly string[];
    readonly only_in_reference: readonly string[];
}
