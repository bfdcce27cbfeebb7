package cmd

import (
	"errors"
	"time"

	"retrysafe/internal/engine"
	"retrysafe/internal/ledger"
)

// openLedger opens the file of --ledger and takes out of it the keys that are due; nil without the flag. What is wrong with the file is
// told before anything is sent.
func openLedger(jobs []*job) (*ledger.Ledger, error) {
	file := jobs[0].opts.ledger
	if file == "" {
		return nil, nil
	}
	kept, err := ledger.Open(file)
	if err != nil {
		return nil, usagef("", "--ledger: %s", err)
	}
	now := time.Now()
	for _, j := range jobs {
		cases, queries := engine.PlantedQueries(j.plan, j.endpoints, j.scenarios, j.effort, j.opts.disruptive)
		taken, err := kept.Take(queries, now)
		if err != nil {
			return nil, usagef("", "--ledger: %s", errors.Join(err, kept.Close()))
		}
		j.ledger, j.planted = kept, map[engine.PlantedCase]engine.Planted{}
		for i, c := range cases {
			j.planted[c] = engine.Planted{Entry: taken[i], Due: kept.Next(queries[i], now)}
		}
	}
	return kept, nil
}

// closeLedger plants the keys of this run for later ones; nil is no ledger.
func closeLedger(kept *ledger.Ledger, jobs []*job) error {
	if kept == nil {
		return nil
	}
	var planted []ledger.Entry
	for _, j := range jobs {
		planted = append(planted, j.toPlant...)
	}
	if err := errors.Join(kept.Plant(planted, time.Now()), kept.Close()); err != nil {
		return usagef("", "--ledger: %s", err)
	}
	return nil
}

// plant keeps a key of this run until its end; nil without a ledger.
func (j *job) plant() func(ledger.Entry) {
	if j.ledger == nil {
		return nil
	}
	return func(e ledger.Entry) { j.toPlant = append(j.toPlant, e) }
}
