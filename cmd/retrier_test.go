package cmd

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// retrier is a client that retries until it gets an answer of 2xx, at most three times: retrier VARIABLE same|fresh|none|body|once.
// The word says what its retry carries; once: there is none. It waits for nothing but for somebody to listen.
func retrier() (exit int) {
	url, how := os.Getenv(os.Args[1]), os.Args[2]
	for attempt := range 3 {
		body := `{"amount":5}`
		if how == "body" {
			body = fmt.Sprintf(`{"amount":5,"attempt":%d}`, attempt)
		}
		key := map[string]string{"none": "", "fresh": fmt.Sprint("key-", attempt)}
		carried, special := key[how]
		if !special {
			carried = "key"
		}
		status, err := retrierCall(url+"/charges", carried, body)
		for started := time.Now(); errors.Is(err, syscall.ECONNREFUSED) && time.Since(started) < 10*time.Second; {
			status, err = retrierCall(url+"/charges", carried, body)
		}
		if err == nil && status/100 == 2 || how == "once" {
			return 0
		}
	}
	return 1
}

func retrierCall(url, key, body string) (status int, err error) {
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Close = true // else Go sends it again by itself where a connection is dropped
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
