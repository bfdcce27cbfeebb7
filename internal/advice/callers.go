package advice

import "retrysafe/internal/plan"

// InPlan is a line about callers that a scenario needs, written as this plan writes its callers: another one of the form of the first, or
// the first one with a log-in in the header that it has. Other lines stay as they are. Empty where no line would do.
func InPlan(p *plan.Plan, line string) string {
	field, _, err := parsed(line)
	if err != nil || field != "callers" || len(p.Callers) == 0 {
		return line
	}
	entry, _ := p.AnotherCaller()
	if renews(p, line) {
		entry = p.RenewedCaller()
	}
	if entry == "" {
		return ""
	}
	return "callers: {" + entry + "}"
}

// renews reports whether a line is about a caller that the plan has: how to obtain its credentials anew.
func renews(p *plan.Plan, line string) bool {
	field, value, err := parsed(line)
	return err == nil && field == "callers" && len(p.Callers) > 0 && get(value, p.Callers[0].Name) != nil
}
