// By oapi-codegen.
package main

import (
	"context"
	"log"
	"os"

	"github.com/oapi-codegen/runtime/types"
	"katana.example/client/api"
)

func check(ok bool, what string) {
	if !ok {
		log.Fatal("go: ", what)
	}
}

func main() {
	ctx := context.Background()
	client, err := api.NewClientWithResponses(os.Args[1])
	check(err == nil, "no client")
	ada := api.NewUser{Name: "Ada Lovelace", Email: types.Email("go@example.org")}

	added, err := client.AddUserWithResponse(ctx, ada)
	check(err == nil && added.JSON201 != nil, "the user was not added")
	id := added.JSON201.Id

	got, err := client.GetUserWithResponse(ctx, id)
	check(err == nil && got.JSON200 != nil && *got.JSON200 == *added.JSON201, "the user is another one")

	limit := int64(100)
	page, err := client.ListUsersWithResponse(ctx, &api.ListUsersParams{Limit: &limit})
	check(err == nil && page.JSON200 != nil, "no page")
	found := false
	for _, each := range page.JSON200.Users {
		found = found || each.Id == id
	}
	check(found, "the user is not in the page")

	again, err := client.AddUserWithResponse(ctx, ada)
	check(err == nil && again.ApplicationproblemJSON409 != nil, "the address was taken twice")
	check(again.ApplicationproblemJSON409.Type == "/problems/email-taken", "the problem has another type")
	log.SetFlags(0)
	log.Print("go: created, got, listed, refused")
}

// SPDX-License-Identifier: Apache-2.0
