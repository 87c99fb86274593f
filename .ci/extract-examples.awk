# Writes every Swift block of Markdown files, and of the documentation comments of Swift files, as a program:
# <out>/<number>.swift. Its first line has the block's place, the pattern of its configurations and, for one
# that must not compile, a part of the error. Prints what it cannot understand, and then exits with 1.
# <out>/wrappers lists those in use.
#
#   awk -v out=<folder> -v wrappers=<folder> -f extract-examples.awk <file>...

function problem(line, message) {
  print file ":" line ": error: " message
  failed = 1
}

# Reads what stands before and after the line `// the example`.
function read_wrapper(name, line, path, text) {
  path = wrappers "/" name ".swift"
  while ((getline line < path) > 0) {
    if (line ~ /^ *\/\/ the example *$/) { before[name] = text; text = "" }
    else text = text line "\n"
  }
  close(path)
  after[name] = text
  if (name in before) print name ".swift" > (out "/wrappers")
  else problem(block, "there is no wrapper " name ", a file of " wrappers " with a line // the example")
}

# What a marker says about the next block.
function read_marker(said, clause) {
  if (said !~ /^<!-- example: .* -->$/) problem(FNR, "a marker is one line, <!-- example: … -->")
  gsub(/^<!-- example: *| *-->$/, "", said)
  marked = FNR
  for (; said != ""; sub(/^[^;]*;? */, "", said)) {
    clause = said
    # The message ends the marker, and may contain what separates the rest.
    if (sub(/^does not compile: */, "", clause) && (refusal = clause) != "") return
    sub(/ *;.*/, "", clause)
    if (clause ~ /^in [A-Za-z]+$/) wrapper = substr(clause, 4)
    else if (clause ~ /^where [A-Za-z]+ can be imported$/) split(clause, needed, " ")
    else if (clause == "continues") continues = 1
    else problem(marked, "a marker says what is not understood: " clause)
  }
}

# The configurations that a program is for, <language mode>-<default isolation>: what its first line says, and
# the others are patterns. What must not compile may be a warning in mode 5.
function pattern_of(code, mode, isolation) {
  mode = refusal == "" ? "*" : "6"
  isolation = "*"
  sub(/\n.*/, "", code)
  if (code ~ /^ *\/\/ /) {
    if (match(code, /[Ll]anguage mode: [56]/)) mode = substr(code, RSTART + RLENGTH - 1, 1)
    if (match(code, /[Dd]efault isolation: [A-Za-z]+/)) {
      isolation = substr(code, RSTART, RLENGTH)
      sub(/.* /, "", isolation)
    }
  }
  return mode "-" isolation
}

function write_program(code, path) {
  if (continues && blocks == "") problem(block, "there is no block that this continues")
  if (!continues) {
    count++
    blocks = ""
    first = file ":" block
    around = wrapper
    module = needed[2]
    pattern = pattern_of(code)
  } else if (refusal != "") pattern = pattern_of("")
  blocks = blocks "#sourceLocation(file: \"" file "\", line: " block ")\n" code "#sourceLocation()\n"
  if (around != "" && !(around in after)) read_wrapper(around)
  path = sprintf("%s/%03d.swift", out, count)
  code = before[around] blocks after[around]
  if (module != "") code = "#if canImport(" module ")\n" code "#endif\n"
  printf "// %s: %s %s\n%s", first, pattern, refusal, code > path
  close(path)
}

# A file, or a comment of it, is over: nothing may be open.
function end_document() {
  if (fence != "") problem(block - 1, "a block does not end")
  fence = blocks = ""
  lose_marker()
}

# What stands here is not what the marker is for.
function lose_marker() {
  if (marked) problem(marked, "no Swift block follows this marker")
  forget_marker()
}

function forget_marker() {
  marked = continues = 0
  wrapper = refusal = ""
  split("", needed)
}

FNR == 1 {
  end_document()
  file = FILENAME
}

file ~ /[.]swift$/ {
  if (!match($0, /^ *\/\/\/ ?/)) {
    end_document()
    next
  }
  # Columns stay what they are.
  $0 = sprintf("%" RLENGTH "s", "") substr($0, RLENGTH + 1)
}

fence != "" {
  text = $0
  gsub(/^ +| +$/, "", text)
  if (index(text, fence) == 1 && text ~ /^(`+|~+)$/) {
    if (language == "swift") {
      write_program(code)
      forget_marker()
    }
    fence = ""
  } else {
    code = code $0 "\n"
  }
  next
}

# Code in a line of prose may have as many backticks, but it ends in the line.
match($0, /^ *(```+|~~~+)/) && substr($0, RLENGTH + 1) !~ /`/ {
  fence = substr($0, 1, RLENGTH)
  language = substr($0, RLENGTH + 1)
  gsub(/ /, "", fence)
  gsub(/^ +| +$/, "", language)
  block = FNR + 1
  code = ""
  if (language == "") problem(block - 1, "a block says no language after its fence: swift, sh, text")
  if (tolower(language) ~ /^swift./) problem(block - 1, "a block says more than that it is Swift: " language)
  if (language != "swift") lose_marker()
  next
}

/^ *<!-- *example/ {
  lose_marker()
  sub(/^ +/, "")
  read_marker($0)
  next
}

/[^ ]/ { lose_marker() }

END {
  end_document()
  exit failed
}
