# count.awk - reads 'ctest -V': shows progress, the output of what failed, skips and totals.
#
# Counted are cmocka's closing lines, and 'ok NAME', 'not ok NAME' and 'skip NAME: REASON' of shell
# tests; a program with none of these counts as one.  A program that fails without saying so, by a
# crash or a time-out, counts as one failure.  A cmocka case gives its reason for a skip by what it
# prints before it.

# "12: text": a line of test 12's output.
/^[0-9]+: / {
  id = $1 + 0
  text = substr($0, index($0, ":") + 2)
  if (text ~ /^(Test command|Working Directory|Environment variables|Test timeout computed)/) next
  if (text ~ /^ [A-Z_]+=/ && !(id in started)) next
  started[id] = 1
  output[id] = output[id] text "\n"
  note(id, text)
  next
}

function note(id, text) {
  if (match(text, /\[  PASSED  \] +[0-9]+ test/)) passed[id] += number(text, "PASSED")
  else if (match(text, /\[  FAILED  \] +[0-9]+ test/)) failed[id] += number(text, "FAILED")
  else if (match(text, /\[  SKIPPED \] +[0-9]+ test/)) skipped[id] += number(text, "SKIPPED")
  else if (match(text, /\[ RUN      \]/)) reason[id] = ""
  else if (match(text, /\[  SKIPPED \] /)) {
    name = substr(text, RSTART + RLENGTH)
    if (!((id, name) in listed)) why[++nwhy] = name (reason[id] ? ": " reason[id] : "")
    listed[id, name] = 1
  }
  else if (text ~ /^ok /) passed[id]++
  else if (text ~ /^not ok /) failed[id]++
  else if (text ~ /^skip /) {
    skipped[id]++
    why[++nwhy] = substr(text, 6)
  }
  else if (text !~ /^\[/ && text != "") reason[id] = text
}

# The number behind "WORD  ] ".
function number(text, word) {
  sub(".*" word " *\\] +", "", text)
  return text + 0
}

# " 3/34 Test #12: io/vectors ......   Passed    0.17 sec"
/^ *[0-9]+\/[0-9]+ +Test +#[0-9]+: / {
  finish($0)
  next
}

function finish(line,    id, name, state, seconds, counts, late) {
  id = line
  sub(/^[^#]*#/, "", id)
  name = id
  id += 0
  sub(/^[0-9]+: /, "", name)
  state = name
  sub(/ .*$/, "", name)
  seconds = line
  sub(/ sec.*$/, "", seconds)
  sub(/^.* /, "", seconds)
  sub(/^[^ ]+ [ .]*/, "", state)
  if (state ~ /^\*\*\*Skipped/) {
    skipped[id]++
    why[++nwhy] = name (reason[id] ? ": " reason[id] : "")
  } else if (state !~ /^Passed/) {
    if (!failed[id]) failed[id] = 1
  } else if (!passed[id] && !failed[id] && !skipped[id]) {
    passed[id] = 1
  }
  all_passed += passed[id]
  all_failed += failed[id]
  all_skipped += skipped[id]
  counts = passed[id] + 0 " passed"
  if (skipped[id]) counts = counts ", " skipped[id] " skipped"
  if (failed[id]) counts = counts ", " failed[id] " FAILED"
  printf "%-32s %-28s %7.2f s\n", name, counts, seconds
  if (failed[id]) {
    printf "---- %s\n%s---- end of %s\n", line, output[id], name
    late = state ~ /^\*\*\*Timeout/
    bad[++nbad] = (late ? "timed out " : "failed ") name (late ? " after " seconds " s" : "")
  }
  ran++
  fflush()
}

# Skips with one reason are one line: 'skipped NAME: REASON', or 'skipped N tests: REASON'.
function group_skips(    k, at, reason_of, count, first, order, n) {
  for (k = 1; k <= nwhy; k++) {
    at = index(why[k], ": ") # names of tests may hold a colon, as in cuda:0-1
    reason_of = at ? substr(why[k], at + 2) : ""
    if (!count[reason_of]++) {
      order[++n] = reason_of
      first[reason_of] = why[k]
    }
  }
  for (k = 1; k <= n; k++)
    if (count[order[k]] == 1)
      print "skipped " first[order[k]]
    else
      print "skipped " count[order[k]] " tests: " (order[k] ? order[k] : "no reason given")
}

# ctest's own complaints: no such directory, executables that were not built.
/^(CMake Error|Could not find executable|Unable to find executable)/ { print }

END {
  if (!ran) {
    print "no test was run"
    all_failed++
  }
  group_skips()
  for (k = 1; k <= nbad; k++) print bad[k]
  printf "%d passed, %d failed, %d skipped\n", all_passed, all_failed, all_skipped
  exit all_failed > 0
}
