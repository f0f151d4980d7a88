package canon

import (
	"strconv"
	"strings"

	"world/fault"
)

const (
	maxCoefficient = 1024  // digits
	maxExponent    = 10000 // either sign
	maxNumber      = 16384 // bytes of canonical text
)

// number reads a JSON number and keeps it as plain decimal text without
// exponent, needless zeros or negative zero.
func (p *parser) number() (Value, error) {
	start := p.at
	negative := p.take('-')
	whole := p.digits()
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return Value{}, p.bad("not a JSON value")
	}
	fraction := ""
	if p.take('.') {
		if fraction = p.digits(); fraction == "" {
			return Value{}, p.bad("number without digits after the point")
		}
	}
	exponent := 0
	if p.take('e') || p.take('E') {
		sign := 1
		if p.take('-') {
			sign = -1
		} else {
			p.take('+')
		}
		text := p.digits()
		n, err := strconv.Atoi(text)
		if text == "" {
			return Value{}, p.bad("number without digits in its exponent")
		}
		if err != nil || n > maxExponent {
			return Value{}, fault.New(op, fault.Limit, "exponent over %d at byte %d", maxExponent, start)
		}
		exponent = sign * n
	}
	if len(whole)+len(fraction) > maxCoefficient {
		return Value{}, fault.New(op, fault.Limit, "number over %d digits at byte %d", maxCoefficient, start)
	}
	text := plain(whole+fraction, exponent-len(fraction))
	if negative && text != "0" {
		text = "-" + text
	}
	if len(text) > maxNumber {
		return Value{}, fault.New(op, fault.Limit, "number over %d bytes at byte %d", maxNumber, start)
	}
	// A few bytes with an exponent are many in plain text: all of them together are held
	// to the size of what they came in.
	if p.room -= len(text); p.room < 0 {
		return Value{}, fault.New(op, fault.Limit, "numbers too large together in plain decimal, at byte %d", start)
	}
	return Value{kind: Number, text: text}, nil
}

func (p *parser) digits() string {
	start := p.at
	for p.at < len(p.raw) && p.raw[p.at] >= '0' && p.raw[p.at] <= '9' {
		p.at++
	}
	return string(p.raw[start:p.at])
}

// plain writes coefficient × 10^exponent as plain decimal.
func plain(coefficient string, exponent int) string {
	coefficient = strings.TrimLeft(coefficient, "0")
	for exponent < 0 && strings.HasSuffix(coefficient, "0") {
		coefficient = coefficient[:len(coefficient)-1]
		exponent++
	}
	switch point := len(coefficient) + exponent; {
	case coefficient == "":
		return "0"
	case exponent >= 0:
		return coefficient + strings.Repeat("0", exponent)
	case point > 0:
		return coefficient[:point] + "." + coefficient[point:]
	default:
		return "0." + strings.Repeat("0", -point) + coefficient
	}
}
