// SPDX-License-Identifier: GPL-3.0-or-later

// Writes a pprof file as OpenTelemetry profiles, by the collector's own library (pdata 0.165): as JSON where OUT ends so, else as protobuf.
//
//	go mod init otlp && go get go.opentelemetry.io/collector/pdata/pprofile github.com/google/pprof/profile && go run otlp.go FILE OUT
package main

import (
	"log"
	"os"
	"strings"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

type writer struct {
	d         pprofile.ProfilesDictionary
	locations map[uint64]int32
	functions map[uint64]int32
	mappings  map[uint64]int32
}

func (w *writer) text(s string) int32 { return must(pprofile.SetString(w.d.StringTable(), s)) }

func (w *writer) mapping(m *profile.Mapping) int32 {
	if m == nil {
		return 0
	}
	if i, ok := w.mappings[m.ID]; ok {
		return i
	}
	i := int32(w.d.MappingTable().Len())
	n := w.d.MappingTable().AppendEmpty()
	n.SetMemoryStart(m.Start)
	n.SetMemoryLimit(m.Limit)
	n.SetFileOffset(m.Offset)
	n.SetFilenameStrindex(w.text(m.File))
	w.mappings[m.ID] = i
	return i
}

func (w *writer) function(f *profile.Function) int32 {
	if i, ok := w.functions[f.ID]; ok {
		return i
	}
	i := int32(w.d.FunctionTable().Len())
	n := w.d.FunctionTable().AppendEmpty()
	n.SetNameStrindex(w.text(f.Name))
	n.SetSystemNameStrindex(w.text(f.SystemName))
	n.SetFilenameStrindex(w.text(f.Filename))
	n.SetStartLine(f.StartLine)
	w.functions[f.ID] = i
	return i
}

func (w *writer) location(l *profile.Location) int32 {
	if i, ok := w.locations[l.ID]; ok {
		return i
	}
	i := int32(w.d.LocationTable().Len())
	n := w.d.LocationTable().AppendEmpty()
	n.SetAddress(l.Address)
	n.SetMappingIndex(w.mapping(l.Mapping))
	for _, line := range l.Line {
		a := n.Lines().AppendEmpty()
		a.SetFunctionIndex(w.function(line.Function))
		a.SetLine(line.Line)
	}
	w.locations[l.ID] = i
	return i
}

func (w *writer) attribute(s pprofile.Sample, key, unit string) pcommon.Value {
	i := w.d.AttributeTable().Len()
	a := w.d.AttributeTable().AppendEmpty()
	a.SetKeyStrindex(w.text(key))
	a.SetUnitStrindex(w.text(unit))
	s.AttributeIndices().Append(int32(i))
	return a.Value()
}

func main() {
	from := must(profile.Parse(must(os.Open(os.Args[1]))))
	all := pprofile.NewProfiles()
	w := &writer{all.Dictionary(), map[uint64]int32{}, map[uint64]int32{}, map[uint64]int32{}}
	w.d.StringTable().Append("")
	w.d.MappingTable().AppendEmpty()
	w.d.LocationTable().AppendEmpty()
	w.d.FunctionTable().AppendEmpty()
	w.d.StackTable().AppendEmpty()
	w.d.AttributeTable().AppendEmpty()
	w.d.LinkTable().AppendEmpty()
	r := all.ResourceProfiles().AppendEmpty()
	r.Resource().Attributes().PutStr("service.name", "gowork")
	scope := r.ScopeProfiles().AppendEmpty()
	for i, t := range from.SampleType {
		p := scope.Profiles().AppendEmpty()
		p.SampleType().SetTypeStrindex(w.text(t.Type))
		p.SampleType().SetUnitStrindex(w.text(t.Unit))
		p.SetTime(pcommon.Timestamp(from.TimeNanos))
		p.SetDurationNano(uint64(from.DurationNanos))
		for _, s := range from.Sample {
			stack := pprofile.NewStack()
			for _, l := range s.Location {
				stack.LocationIndices().Append(w.location(l))
			}
			n := p.Samples().AppendEmpty()
			n.SetStackIndex(must(pprofile.SetStack(w.d.StackTable(), stack)))
			n.Values().Append(s.Value[i])
			for key, values := range s.Label {
				w.attribute(n, key, "").SetStr(values[0])
			}
			for key, values := range s.NumLabel {
				unit := ""
				if units := s.NumUnit[key]; len(units) > 0 {
					unit = units[0]
				}
				w.attribute(n, key, unit).SetInt(values[0])
			}
		}
	}
	out := must((&pprofile.ProtoMarshaler{}).MarshalProfiles(all))
	if strings.HasSuffix(os.Args[2], ".json") {
		out = must((&pprofile.JSONMarshaler{}).MarshalProfiles(all))
	}
	if err := os.WriteFile(os.Args[2], out, 0o644); err != nil {
		log.Fatal(err)
	}
}
