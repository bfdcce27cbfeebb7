package openapi

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"

	"retrysafe/internal/strict"
)

// mostDigits bounds the numbers that are reckoned with: an exponent of a billion would fill the memory.
const mostDigits = 60

// rational is a number of the document, nil for anything else.
func rational(n *yaml.Node) *big.Rat {
	if n = plain(n); n == nil || n.Kind != yaml.ScalarNode {
		return nil
	}
	return parseRational(n.Value)
}

func parseRational(s string) *big.Rat {
	if i := strings.IndexAny(s, "eE"); len(s) > mostDigits || i >= 0 && len(s)-i > 4 {
		return nil
	}
	s = strings.ReplaceAll(s, "_", "")
	value, ok := new(big.Rat).SetString(s)
	if !ok || strings.Contains(s, "/") {
		return nil
	}
	return value
}

// decimal is a number as JSON writes it; false when it has no end in decimal.
func decimal(value *big.Rat) (string, bool) {
	if value.IsInt() {
		return value.Num().String(), true
	}
	digits, exact := value.FloatPrec()
	return value.FloatString(min(digits, mostDigits)), exact
}

// literal is a number of the document as JSON writes it, in its own words where those are JSON.
func literal(n *yaml.Node) (string, bool) {
	if n = plain(n); n == nil || n.Kind != yaml.ScalarNode {
		return "", false
	}
	if strict.IsNumber(n.Value) {
		return n.Value, true
	}
	if value := rational(n); value != nil {
		return decimal(value)
	}
	return "", false
}

func (s *schema) atLeast(n *yaml.Node, exclusive bool) {
	value := rational(n)
	if value == nil || n.ShortTag() == "!!bool" {
		return
	}
	if have := rational(s.minimum); have == nil || value.Cmp(have) > 0 || value.Cmp(have) == 0 && exclusive {
		s.minimum, s.exclusiveMinimum = n, exclusive
	}
}

func (s *schema) atMost(n *yaml.Node, exclusive bool) {
	value := rational(n)
	if value == nil || n.ShortTag() == "!!bool" {
		return
	}
	if have := rational(s.maximum); have == nil || value.Cmp(have) < 0 || value.Cmp(have) == 0 && exclusive {
		s.maximum, s.exclusiveMaximum = n, exclusive
	}
}

// holds is true for a number within the bounds.
func (s *schema) holds(value *big.Rat) bool {
	low, high, step := rational(s.minimum), rational(s.maximum), rational(s.multipleOf)
	switch {
	case low != nil && (value.Cmp(low) < 0 || s.exclusiveMinimum && value.Cmp(low) == 0),
		high != nil && (value.Cmp(high) > 0 || s.exclusiveMaximum && value.Cmp(high) == 0),
		s.whole() && !value.IsInt():
		return false
	}
	return step == nil || step.Sign() == 0 || new(big.Rat).Quo(value, step).IsInt()
}

func (s *schema) whole() bool { return s.is("integer") && !s.is("number") }

// amount is a small number within the bounds: 1, else what is nearest to a bound.
func (s *schema) amount() string {
	one := big.NewRat(1, 1)
	var tries []*big.Rat
	add := func(values ...*big.Rat) { tries = append(tries, values...) }
	add(one)
	if step := rational(s.multipleOf); step != nil && step.Sign() != 0 {
		add(step)
		if low := rational(s.minimum); low != nil {
			up := ceiling(new(big.Rat).Quo(low, step))
			add(new(big.Rat).Mul(up, step), new(big.Rat).Mul(new(big.Rat).Add(up, one), step))
		}
		if high := rational(s.maximum); high != nil {
			down := new(big.Rat).Neg(ceiling(new(big.Rat).Neg(new(big.Rat).Quo(high, step))))
			add(new(big.Rat).Mul(down, step))
		}
	}
	low, high := rational(s.minimum), rational(s.maximum)
	if low != nil {
		add(low, ceiling(low), new(big.Rat).Add(ceiling(low), one))
	}
	if high != nil {
		down := new(big.Rat).Neg(ceiling(new(big.Rat).Neg(high)))
		add(down, new(big.Rat).Sub(down, one), high)
	}
	if low != nil && high != nil {
		add(new(big.Rat).Quo(new(big.Rat).Add(low, high), big.NewRat(2, 1)))
	}
	for _, value := range tries {
		if written, exact := decimal(value); exact && s.holds(value) {
			return written
		}
	}
	return "1"
}

// ceiling is the least whole number that is not below value.
func ceiling(value *big.Rat) *big.Rat {
	quotient, rest := new(big.Int).DivMod(value.Num(), value.Denom(), new(big.Int))
	if rest.Sign() != 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return new(big.Rat).SetInt(quotient)
}
