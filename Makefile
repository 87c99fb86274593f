# The five commands of every day. `.ci/run` is the gate, and knows each check by name.

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
