package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// goroutines sends the order n times with a stock client: a goroutine and a new connection each, and nothing that
// synchronises them.
func goroutines(client *http.Client, url, key string, n int) error {
	return together(n, func() error { return order(client, url, key) })
}

// barrier sends the order n times over connections that are there already, from goroutines that wait for each other.
func barrier(client *http.Client, url, key string, n int) error {
	warm := func() error {
		resp, err := client.Get(url + "/warm")
		return drained(resp, err)
	}
	if err := together(n, warm); err != nil {
		return err
	}
	var waiting sync.WaitGroup
	waiting.Add(n)
	return together(n, func() error {
		waiting.Done()
		waiting.Wait()
		return order(client, url, key)
	})
}

func together(n int, do func() error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func order(client *http.Client, url, key string) error {
	r, err := http.NewRequest("POST", url+"/orders", strings.NewReader(payload(key)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	resp, err := client.Do(r)
	return drained(resp, err)
}

// drained reads an answer to its end, so that its connection can be used again; an error there was before is given back.
func drained(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("expected 200, found %s", resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
