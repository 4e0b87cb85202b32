package sources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFields(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want Fields
	}{
		"a chain": {`const place = data.results[0].geometry?.location;`, Fields{
			"":        {Kind: "object", Within: []string{"results", "geometry", "location"}},
			"results": {Kind: "array", Within: []string{"geometry"}}, "geometry": {Kind: "object", Within: []string{"location"}}, "location": {},
		}},
		"a comparison": {`if (body.status !== "OK") throw new Error(body.error_message);`, Fields{
			"": {Kind: "object", Within: []string{"status"}}, "status": {Literal: `"OK"`},
		}},
		"a comparison with a digit": {`if (body.status !== "1" || body.code !== 0 || body.count === 3) fail(body.infocode);`, Fields{
			"": {Kind: "object", Within: []string{"status", "code", "count", "infocode"}}, "status": {Literal: `"1"`}, "code": {Literal: `0`}, "count": {}, "infocode": {},
		}},
		"a text after a number": {`if (reply.status !== 200) retry(); if (body.status !== "done") fail();`, Fields{
			"": {Kind: "object", Within: []string{"status"}}, "status": {Literal: `"done"`},
		}},
		"elements": {`return data.rows.map((row) => row.name.trim());`, Fields{
			"": {Kind: "object", Within: []string{"rows", "name"}}, "rows": {Kind: "array", Within: []string{"name"}}, "name": {Kind: "string"},
		}},
		"a loop": {`for (const item of page.items) { use(item.id); }`, Fields{
			"": {Kind: "object", Within: []string{"items", "id"}}, "items": {Kind: "array", Within: []string{"id"}}, "id": {},
		}},
		"taken apart": {`const { success, errorMessage, resultObj: link } = response.data;`, Fields{
			"":     {Kind: "object", Within: []string{"data", "success", "resultObj"}},
			"data": {Kind: "object", Within: []string{"success", "resultObj"}}, "success": {}, "resultObj": {},
		}},
		"read of what was taken apart": {`const { web, news: latest } = await api.search(q); use(web.hits[0].link, latest.age);`, Fields{
			"":       {Kind: "object", Within: []string{"search", "web", "news", "hits", "link", "age"}},
			"search": {Kind: "object", Within: []string{"web", "news"}}, "web": {Kind: "object", Within: []string{"hits"}},
			"hits": {Kind: "array", Within: []string{"link"}}, "link": {}, "news": {Kind: "object", Within: []string{"age"}}, "age": {},
		}},
		"elements taken apart": {`(page.clips || []).map(({ link, video }) => [link, video.length_s]);`, Fields{
			"":      {Kind: "object", Within: []string{"clips", "link", "video", "length_s"}},
			"clips": {Kind: "array", Within: []string{"link", "video"}}, "link": {}, "video": {Kind: "object", Within: []string{"length_s"}}, "length_s": {},
		}},
		"a schema": {`z.object({ id: z.string(), 'build-number': z.number(), kind: z.literal("job"), steps: z
			.array(z.object({})).nullable(), urls: z.array(z.string().url()) })`, Fields{
			"": {Kind: "object", Within: []string{"id", "build-number", "kind", "steps", "urls"}}, "urls": {Kind: "array", Element: "string"}, "id": {Kind: "string"}, "build-number": {Kind: "number"},
			"kind": {Kind: "string", Literal: `"job"`}, "steps": {Kind: "array"},
		}},
		"nothing": {`console.log(process.env.HOME, Math.max(1, 2)); fetch(url).then(go);`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var r Reader
			r.Add(tc.text)
			if diff := cmp.Diff(tc.want, r.Fields()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a hostile program has for a text fills no more than its room.
func TestFieldsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 4 * maxFields {
		text.WriteString("data." + strings.Repeat("x", i%maxName) + strings.Repeat("y", i/maxName) + ".z;\n")
	}
	var r Reader
	r.Add(text.String())
	if n := len(r.Fields()); n > maxFields {
		t.Errorf("%d fields", n)
	}
}

func FuzzFields(f *testing.F) {
	f.Add(`const { a: b, c = 1 } = await x.data; for (const i of x?.items) i.a["b-c"][0].d === 'e'`)
	f.Add(`q: z.array(z.enum(["a"])), x.map(async ({ y }) => y.z)`)
	f.Fuzz(func(_ *testing.T, text string) {
		var r Reader
		r.Add(text)
		r.Add(text)
		r.Fields()
	})
}
