"""Public rule for the pages of a TypeScript API."""

load("//tools/typedoc/private:typescript_pages.bzl", _typescript_pages = "typescript_pages")

typescript_pages = _typescript_pages
