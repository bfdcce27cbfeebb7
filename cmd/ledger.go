package cmd

import (
	"errors"
	"time"

	"retrysafe/internal/engine"
	"retrysafe/internal/ledger"
)

// openLedger opens the file of --ledger and takes out of it the keys that are due. What is wrong with the file is told before
// anything is sent.
func (j *job) openLedger() error {
	if j.opts.ledger == "" {
		return nil
	}
	var err error
	if j.ledger, err = ledger.Open(j.opts.ledger); err != nil {
		return usagef("", "--ledger: %s", err)
	}
	now := time.Now()
	cases, queries := engine.PlantedQueries(j.plan, j.endpoints, j.scenarios, j.effort, j.opts.disruptive)
	taken, err := j.ledger.Take(queries, now)
	if err != nil {
		return usagef("", "--ledger: %s", errors.Join(err, j.ledger.Close()))
	}
	j.planted = map[engine.PlantedCase]engine.Planted{}
	for i, c := range cases {
		j.planted[c] = engine.Planted{Entry: taken[i], Due: j.ledger.Next(queries[i], now)}
	}
	return nil
}

// closeLedger plants the keys of this run for later ones.
func (j *job) closeLedger() error {
	if j.ledger == nil {
		return nil
	}
	if err := errors.Join(j.ledger.Plant(j.toPlant, time.Now()), j.ledger.Close()); err != nil {
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
