// What projects are called: by their last directory, with as much of the path as tells them apart.

import type { Project } from "./api";
import { place, projectNames } from "./words";

let names = new Map<string, string>();

/** Tells the names of all projects; what is drawn afterwards uses them. */
export function nameProjects(projects: Project[]): void {
  const of = projectNames(projects.map((one) => one.path ?? one.name));
  names = new Map(projects.map((one) => [one.name, of.get(one.path ?? one.name) ?? one.name]));
}

/** What a project is called everywhere. */
export const projectName = (name: string | null | undefined, path?: string | null): string =>
  names.get(name ?? "") ?? (place(path) || name || "");
