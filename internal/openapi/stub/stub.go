// Package stub serves what an OpenAPI document describes, for tests: it holds every request to the document with a reader and
// validator that share no code with ours, and answers as the document says that the operation answers.
package stub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"go.yaml.in/yaml/v4"
)

// Server is an http.Handler; it is safe for concurrent use.
type Server struct {
	router routers.Router
	total  int

	mu   sync.Mutex
	seen map[string]error
	made int
}

// New makes a server of a document. Paths start at its root, whatever base path the document gives.
func New(data []byte) (*Server, error) {
	doc, err := load(data)
	if err != nil {
		return nil, err
	}
	s := &Server{seen: map[string]error{}}
	doc.Servers = nil
	for _, item := range doc.Paths.Map() {
		item.Servers = nil
		for method, o := range item.Operations() {
			o.Servers = nil
			switch method {
			case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
				s.total++
			}
		}
	}
	s.router, err = gorillamux.NewRouter(doc)
	return s, err
}

func load(data []byte) (*openapi3.T, error) {
	var head struct {
		Swagger string `yaml:"swagger"`
	}
	if err := yaml.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Swagger == "" {
		return openapi3.NewLoader().LoadFromData(data)
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	text, err := json.Marshal(textKeys(tree))
	if err != nil {
		return nil, err
	}
	var doc openapi2.T
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	return openapi2conv.ToV3(&doc)
}

// textKeys is a tree whose members have names of text, as in JSON; status codes are numbers in YAML.
func textKeys(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := map[string]any{}
		for key, value := range v {
			out[fmt.Sprint(key)] = textKeys(value)
		}
		return out
	case map[string]any:
		for key, value := range v {
			v[key] = textKeys(value)
		}
	case []any:
		for i, value := range v {
			v[i] = textKeys(value)
		}
	}
	return v
}

// Total is how many operations change something.
func (s *Server) Total() int { return s.total }

// Seen are the operations that change something and were asked for, such as "POST /orders/{id}", with nil for those that received a
// valid request, and else what was wrong with the last one.
func (s *Server) Seen() map[string]error {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]error, len(s.seen))
	for name, err := range s.seen {
		out[name] = err
	}
	return out
}

// ServeHTTP answers 400 with the reason to what the document does not allow.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, params, err := s.router.FindRoute(r)
	if err != nil {
		s.note(r.Method+" "+r.URL.Path, err)
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: authenticate, SkipSettingDefaults: true},
	})
	s.note(r.Method+" "+route.Path, err)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.answer(w, route.Operation)
}

func (s *Server) note(operation string, err error) {
	if strings.HasPrefix(operation, "GET ") || strings.HasPrefix(operation, "HEAD ") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if before, known := s.seen[operation]; !known || before != nil {
		s.seen[operation] = err
	}
}

// authenticate asks that credentials are there, whatever they are.
func authenticate(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	r, scheme := in.RequestValidationInput.Request, in.SecurityScheme
	found := r.Header.Get("Authorization") != ""
	if scheme.Type == "apiKey" {
		switch scheme.In {
		case "query":
			found = r.URL.Query().Get(scheme.Name) != ""
		case "cookie":
			_, err := r.Cookie(scheme.Name)
			found = err == nil
		default:
			found = r.Header.Get(scheme.Name) != ""
		}
	}
	if !found {
		return errors.New("no credentials for " + in.SecuritySchemeName)
	}
	return nil
}

func (s *Server) answer(w http.ResponseWriter, o *openapi3.Operation) {
	s.mu.Lock()
	s.made++
	n := s.made
	s.mu.Unlock()
	for _, status := range []int{201, 200, 202, 203, 204} {
		r := o.Responses.Value(fmt.Sprint(status))
		if r == nil || r.Value == nil {
			continue
		}
		write(w, status, r.Value, n)
		return
	}
	if r := o.Responses.Value("default"); r != nil && r.Value != nil {
		write(w, http.StatusOK, r.Value, n)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func write(w http.ResponseWriter, status int, r *openapi3.Response, n int) {
	for contentType, media := range r.Content {
		if !strings.Contains(contentType, "json") && contentType != "*/*" || media.Schema == nil {
			continue
		}
		text, err := json.Marshal(value(media.Schema.Value, n, 0))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(text)
		return
	}
	w.WriteHeader(status)
}
