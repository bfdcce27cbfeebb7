package requests

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"retrysafe/internal/strict"
)

// word is a word of a command, as the command gets it: quotes are gone, variables are holes.
type word struct {
	text string
	at   strict.Pos
}

// command is a command of a shell with what it reads from a here-document.
type command struct {
	at    strict.Pos
	words []word
	stdin string
}

// shell reads commands in the syntax of bash. Nothing is executed or looked up.
type shell struct {
	file     string
	commands []command
	notes    []string
	errs     strict.Errors
}

// readShell finds the curl commands in a text. Other commands are noted, unless they stand alone.
func readShell(file, text string) (*shell, error) {
	sh := &shell{file: file}
	tree, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), file)
	if err != nil {
		var parse syntax.ParseError
		if errors.As(err, &parse) {
			return nil, fileError(file, int(parse.Pos.Line()), int(parse.Pos.Col()), "expected a curl command as bash reads it: %s", parse.Text)
		}
		return nil, fileError(file, 1, 1, "expected a curl command as bash reads it: %s", err)
	}
	for _, s := range tree.Stmts {
		sh.statement(s)
	}
	if len(sh.errs) > 0 {
		return nil, sh.errs.Sorted()
	}
	return sh, nil
}

func (sh *shell) pos(p syntax.Pos) strict.Pos {
	return strict.Pos{File: sh.file, Line: int(p.Line()), Col: int(p.Col())}
}

func (sh *shell) errorf(p syntax.Pos, format string, args ...any) {
	sh.errs = append(sh.errs, &strict.Error{Pos: sh.pos(p), Message: fmt.Sprintf(format, args...), Width: 1})
}

func (sh *shell) statement(s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		sh.call(s, c)
	case *syntax.BinaryCmd:
		sh.statement(c.X)
		sh.statement(c.Y)
	case *syntax.DeclClause:
		sh.notes = append(sh.notes, sh.pos(c.Pos()).String()+": variables are not taken over: export them before the plan is used")
	case nil:
	default:
		sh.errorf(s.Pos(), "expected curl commands one after the other, found a compound command: write the curl commands alone")
	}
}

func (sh *shell) call(s *syntax.Stmt, c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		sh.notes = append(sh.notes, fmt.Sprintf("%s: variable %s is not taken over: export it before the plan is used", sh.pos(a.Pos()), a.Name.Value))
	}
	cmd := command{at: sh.pos(c.Pos())}
	for _, w := range c.Args {
		if text := sh.parts(w.Parts, false); len(cmd.words) > 0 || text != "$" { // a prompt that was copied too
			cmd.words = append(cmd.words, word{text, sh.pos(w.Pos())})
		}
	}
	if len(cmd.words) == 0 {
		return
	}
	first := cmd.words[0].text
	if name, _, assigns := strings.Cut(first, "="); assigns && validVariable.MatchString(name) { // behind a prompt
		sh.notes = append(sh.notes, fmt.Sprintf("%s: variable %s is not taken over: export it before the plan is used", cmd.words[0].at, name))
		return
	}
	if name := programName(first); name != "curl" {
		sh.notes = append(sh.notes, fmt.Sprintf("%s: %s is not curl", cmd.words[0].at, shown(name)))
		return
	}
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			cmd.stdin = sh.document(r)
		case syntax.WordHdoc:
			cmd.stdin = sh.parts(r.Word.Parts, false) + "\n"
		case syntax.RdrIn:
			sh.errorf(r.Pos(), "expected the body in the command, found a file on standard input: give it with --data-binary")
		}
	}
	cmd.words = cmd.words[1:]
	sh.commands = append(sh.commands, cmd)
}

func programName(text string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(text, `\`, "/")), ".exe")
}

// document is the text of a here-document. With quotes around its end nothing in it is replaced.
func (sh *shell) document(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	for _, p := range r.Word.Parts {
		if lit, plain := p.(*syntax.Lit); !plain || strings.Contains(lit.Value, `\`) {
			var out strings.Builder
			for _, p := range r.Hdoc.Parts {
				if lit, ok := p.(*syntax.Lit); ok {
					out.WriteString(clean(lit.Value))
				}
			}
			return out.String()
		}
	}
	return sh.parts(r.Hdoc.Parts, true)
}

// parts are the parts of a word; in double quotes and documents a backslash means little.
func (sh *shell) parts(parts []syntax.WordPart, quoted bool) string {
	var out strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			out.WriteString(unescapeShell(clean(p.Value), quoted))
		case *syntax.SglQuoted:
			out.WriteString(clean(sh.single(p)))
		case *syntax.DblQuoted:
			out.WriteString(sh.parts(p.Parts, true))
		case *syntax.ParamExp:
			out.WriteString(sh.variable(p))
		case *syntax.CmdSubst:
			sh.errorf(p.Pos(), "expected a value, found a command: it is not run; write a variable, such as $TOKEN, in its place")
		default:
			sh.errorf(p.Pos(), "expected a value, found something that a shell computes: write a variable in its place")
		}
	}
	return out.String()
}

// single is the text of '...' and of $'...'.
func (sh *shell) single(q *syntax.SglQuoted) string {
	if !q.Dollar {
		return q.Value
	}
	text, _, err := expand.Format(nil, q.Value, nil)
	if err != nil {
		sh.errorf(q.Pos(), "expected escapes as bash has them in $'...': %s", err)
	}
	return text
}

func (sh *shell) variable(p *syntax.ParamExp) string {
	if p.Param == nil || !validVariable.MatchString(p.Param.Value) || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		sh.errorf(p.Pos(), "expected a variable as ${NAME}, found one that a shell computes: set another variable to it before")
		return ""
	}
	return hole(p.Param.Value)
}

// unescapeShell takes backslashes out: without quotes all of them, else those before what has a meaning there.
func unescapeShell(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		switch next := s[i+1]; {
		case next == '\n':
			i++
		case !quoted || strings.IndexByte("$`\"\\", next) >= 0:
			out.WriteByte(next)
			i++
		default:
			out.WriteByte('\\')
		}
	}
	return out.String()
}
