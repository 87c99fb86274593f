# The five commands of every day. `.ci/run` has all checks, and each of them by name.

.PHONY: build test format documentation check

build:
	swift build

test:
	swift test

format:
	swift format --in-place --recursive Package.swift Sources Tests Examples Benchmarks/Sources

documentation:
	.ci/check-interface

check:
	bash .ci/run
