# Prints build/steps.txt (seconds, CPU seconds and name of each step) in minutes and CPU seconds, and
# the sum of the minutes.
#
# usage: awk -f tools/step_times.awk [-v seconds=ALL] [-v budget_min=N] build/steps.txt
#   seconds: the time in all, if it is more than the sum of the steps
function line(seconds, cpu, text) {
  printf "%6.1f min  %12s  %s\n", seconds / 60, cpu ~ /^[0-9]+$/ ? cpu " CPU s" : "", text
}
{
  sum += $1
  step = $1
  cpu = $2
  sub(/^[0-9]+ [^ ]+ /, "")
  line(step, cpu, $0)
}
END { line(seconds ? seconds : sum, "", "in all" (budget_min ? ", of at most " budget_min : "")) }
