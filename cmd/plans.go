package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"retrysafe/internal/plan"
	"retrysafe/internal/strict"
)

// loadPlan reads the plan that was named, or the nearest one.
func loadPlan(env Env, args []string, over plan.Overrides) (*plan.Plan, error) {
	file := ""
	if len(args) > 0 {
		file = args[0]
	} else {
		found, err := plan.FindFile(".")
		if err != nil {
			return nil, usagef("retrysafe run PLAN, or retrysafe probe URL without a plan", "%s", err)
		}
		file = found
	}
	p, err := plan.Load(file, env.LookupEnv, over)
	if err != nil {
		return nil, planError(err)
	}
	return p, nil
}

// loadPlans reads the plans that were named, or the nearest one, as those of one run. The mistakes of all are told together.
func loadPlans(env Env, args []string, over plan.Overrides) ([]*plan.Plan, error) {
	files, err := planFiles(args)
	if err != nil {
		return nil, err
	}
	if len(files) < 2 {
		p, err := loadPlan(env, files, over)
		return []*plan.Plan{p}, err
	}
	var plans []*plan.Plan
	var failed strict.Errors
	for _, file := range files {
		p, err := loadPlan(env, []string{file}, over)
		var mistakes strict.Errors
		switch {
		case errors.As(err, &mistakes):
			failed = append(failed, mistakes...)
		case err != nil:
			return nil, err
		}
		plans = append(plans, p)
	}
	if len(failed) > 0 {
		return nil, failed
	}
	plan.Together(plans)
	return plans, nil
}

// planFiles are the files that arguments name, each once; patterns are for where no shell has expanded them.
func planFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		found := []string{arg}
		if _, err := os.Stat(arg); err != nil && strings.ContainsAny(arg, "*?[") {
			if found, err = filepath.Glob(arg); err != nil || len(found) == 0 {
				return nil, usagef("", "no plan matches %q", arg)
			}
		}
		for _, file := range found {
			if slices.ContainsFunc(files, func(f string) bool { return filepath.Clean(f) == filepath.Clean(file) }) {
				return nil, usagef("", "the plan %s is named twice: name each once", file)
			}
			files = append(files, file)
		}
	}
	return files, nil
}
