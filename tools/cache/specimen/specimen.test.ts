import { equal } from "node:assert/strict";
import { test } from "node:test";
import { double } from "./specimen.ts";

test("double doubles", () => {
  equal(double(21), 42);
});
