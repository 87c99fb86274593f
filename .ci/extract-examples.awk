# Writes every Swift block of Markdown files, and of the documentation comments of Swift files, as a program,
# <out>/<number>.swift, whose first line has the block's place and, for one that must not compile, a part of the error.
# Lists each program's configurations in <out>/checks. Prints what it cannot understand, with `all` also each wrapper that is
# not in use, and then exits with 1.
#
#   awk -v out=<folder> -v wrappers=<file> -v all=<0 or 1> -f extract-examples.awk <file>...

function problem(line, message) { print file ":" line ": error: " message; failed = 1 }

# What stands here is not what the marker is for.
function lose_marker() {
  if (marked) problem(marked, "no Swift block follows this marker")
  marked = continues = 0
  wrapper = refusal = needed = ""
}

# A file, or a comment of it, is over: nothing may be open.
function end_document() {
  if (fence != "") problem(block - 1, "a block does not end")
  fence = blocks = ""
  lose_marker()
}

# What a marker says about the next block.
function read_marker(said, clause) {
  marked = FNR
  if (!sub(/^ *<!-- example: /, "", said) || !sub(/ -->$/, "", said))
    problem(FNR, "a marker is one line, <!-- example: … -->")
  for (; said != ""; sub(/^[^;]*;? */, "", said)) {
    # The message ends the marker, and may contain what separates the rest.
    if (sub(/^does not compile: */, "", said)) { refusal = said; return }
    clause = said
    sub(/ *;.*/, "", clause)
    if (clause ~ /^in [A-Za-z]+$/) wrapper = substr(clause, 4)
    else if (clause ~ /^where [A-Za-z]+ can be imported$/) { split(clause, words, " "); needed = words[2] }
    else if (clause == "continues") continues = 1
    else problem(marked, "a marker says what is not understood: " clause)
  }
}

# The configurations of a block: what its first line says. What must not compile may be a warning in mode 5.
function read_configurations(line) {
  modes[count] = refusal == "" ? "[56]" : 6
  isolations[count] = "."
  if (line !~ /^ *\/\/ /) return
  sub(/\n.*/, "", line)
  if (match(line, /[Ll]anguage mode: [56]/)) modes[count] = substr(line, RSTART + RLENGTH - 1, 1)
  if (match(line, /[Dd]efault isolation: [A-Za-z]+/)) isolations[count] = substr(line, RSTART + 19, RLENGTH - 19)
}

function write_program(code, path, line) {
  if (continues && blocks == "") problem(block, "there is no block that this continues")
  if (!continues) {
    count++
    place = file ":" block
    blocks = ""; around = wrapper; module = needed
  }
  if (!continues || refusal != "") read_configurations(code)
  blocks = blocks "#sourceLocation(file: \"" file "\", line: " block ")\n" code "#sourceLocation()\n"
  if (around != "" && !(around in after)) problem(block, "there is no wrapper " around " in " wrappers)
  used[around]
  path = sprintf("%s/%03d.swift", out, count)
  line = before[around] blocks after[around]
  if (module != "") line = "#if canImport(" module ")\n" line "#endif\n"
  printf "// %s: %s\n%s", place, refusal, line > path
  close(path)
  marked = 0; lose_marker()
}

# Each wrapper begins with a line `// MARK: Name: what it imports`, and has a line `// the example`.
BEGIN {
  while ((getline line < wrappers) > 0)
    if (sub(/^\/\/ MARK: /, "", line)) {
      count = split(line, words, /:? /)
      name = words[1]
      while (count > 1) before[name] = before[name] "import " words[count--] "\n"
    } else if (line ~ /^ *\/\/ the example *$/) after[name] = ""
    else if (name in after) after[name] = after[name] line "\n"
    else if (name != "") before[name] = before[name] line "\n"
  count = 0
}

FNR == 1 { end_document(); file = FILENAME }

file ~ /[.]swift$/ {
  if (!match($0, /^ *\/\/\/ ?/)) { end_document(); next }
  # Columns stay what they are.
  $0 = sprintf("%" RLENGTH "s", "") substr($0, RLENGTH + 1)
}

fence != "" {
  if (index($0, fence) && $0 ~ /^ *(`+|~+) *$/) {
    if (language == "swift") write_program(code)
    fence = ""
  } else code = code $0 "\n"
  next
}

# Code in a line of prose may have as many backticks, but it ends in the line.
/^ *(```+|~~~+)[^`]*$/ {
  fence = language = $0
  gsub(/[^`~]/, "", fence)
  gsub(/^[ `~]+| +$/, "", language)
  block = FNR + 1; code = ""
  if (language !~ /^[a-z]+$/) problem(FNR, "a block says no language after its fence, or more: swift, sh, text")
  if (language != "swift") lose_marker()
  next
}

/[^ ]/ { lose_marker() }
/^ *<!-- *example/ { read_marker($0) }

END {
  end_document()
  for (name in after) if (all && !(name in used)) problem(FNR, "no example stands in the wrapper " name)
  last = split("5-nonisolated 5-MainActor 6-nonisolated 6-MainActor", configurations, " ")
  for (; count > 0; count--)
    for (number = 1; number <= last; number++)
      if (configurations[number] ~ "^" modes[count] "-" isolations[count])
        printf "%s/%03d.swift %s\n", out, count, configurations[number] > (out "/checks")
  exit failed
}
