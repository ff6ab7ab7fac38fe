// The text of the test site "Grain Almanac". Every framework shows exactly this.
//
// A page is { path, title, byline?, blocks, related? }. A block is one of
//   { type: "p" | "h2", text }
//   { type: "ul", items: [text] }
//   { type: "table", head: [text], rows: [[text]] }
//   { type: "teasers", items: [{ href, title, teaser }] }

// In the articles below a plain string is a paragraph.
const articles = [
  {
    slug: "rye-on-poor-soil",
    category: "field",
    title: "Rye on Poor Soil",
    date: "2023-09-14",
    author: "Hedda Brandt",
    teaser: "On thin sand where wheat gives up, rye still fills a loft, provided it goes in early and is left alone.",
    related: ["oats-as-a-nurse-crop", "bread-for-keeping", "saving-seed-from-landraces"],
    blocks: [
      "The upper field at Lindenhof has never been a good field. Dig a spade deep and you meet yellow sand, dig two deep and you meet the flints that blunted my grandfather's plough. Wheat sown there in the wet autumn of 1998 came up thin as a worn carpet, and we did not try it again. Rye has been on that slope for most of the years since, and it has never failed us entirely.",
      "The plant earns its reputation below ground. By the first hard frost a rye seedling has sent down a mat of fine roots out of all proportion to the three leaves you can see, and those roots go on working whenever the soil is a little above freezing. They reach potash and phosphate that other cereals leave behind, and they hold the sand together when the February winds come over the ridge.",
      "Sow early. In our district that means the second half of September, into a bed that has been allowed to settle for two weeks. Rye dislikes being buried, so two centimetres of cover is plenty. We use one hundred and twenty kilograms to the hectare for our own seed, a little more if the drill has been misbehaving.",
      "Feeding is where most people spoil the crop. Fifty kilograms of nitrogen in spring, or a light coat of old manure before ploughing, is as much as the straw can carry. Give it more and it will grow taller than a man, bow down in the first thunderstorm of June and sprout where it lies.",
      "Expect between two and three tonnes from such ground. Neighbours on the clay will smile at the figure, but they have paid for sprays and lime that we did not buy. What matters is the margin, and the fact that the upper field is covered and alive from October until July.",
      "After harvest we broadcast white clover into the stubble without any cultivation. Some years it takes and some years it does not, yet over a decade the colour of the topsoil has changed from straw to weak tea. That is slow progress, and it is the only kind the slope allows.",
    ],
  },
  {
    slug: "saving-seed-from-landraces",
    category: "field",
    title: "Saving Seed from Landraces",
    date: "2023-11-02",
    author: "Tomasz Wilk",
    teaser: "A landrace is a crowd and not a portrait; the art of keeping one is to choose many parents and few favourites.",
    related: ["rye-on-poor-soil", "storing-grain-through-winter"],
    blocks: [
      "Walk through a plot of modern barley and every ear nods at the same height. Walk through a landrace and you are in a market square: tall ones, short ones, some with violet awns and some nearly bald. That variety is the whole point. A landrace survives because some part of the crowd is always suited to the season that actually arrives.",
      "The beginner's error is to select the handsomest heads. Do that for six generations and you will have bred a poor imitation of a commercial cultivar. Instead I walk the plot in a zigzag and take one ear every fourth step, good or plain, discarding only those with smut, ergot or an obviously broken neck. Three hundred ears is my lower limit for wheat, and for outcrossing rye I take twice as many.",
      "Isolation depends on the species. Wheat, barley and oats mostly pollinate themselves, and a strip of ten metres keeps neighbours apart. Rye throws its pollen on the wind and will marry anything within half a kilometre, so only one population can be kept honest on a farm of ordinary size.",
      "Thresh the selected ears separately from the harvest, by hand or in a small drum that has been brushed clean. Dry the grain in shallow trays until a kernel snaps between the teeth instead of denting, which is close to twelve per cent moisture. A paper sack in an unheated pantry is good for three years; a sealed jar in a freezer is good for twenty.",
      "Write everything down. The label on each of my sacks carries the year, the field, the number of ears and one sentence about the weather. When the spring of 2021 drowned half the plots, those sentences told me which lines had stood in water before and lived.",
      "Finally, give some away. A population kept in one barn is a single fire from extinction. We send a kilogram to four growers each winter and ask only that they do the same, and twice already the seed has come home to us after a bad year.",
    ],
  },
  {
    slug: "oats-as-a-nurse-crop",
    category: "field",
    title: "Oats as a Nurse Crop",
    date: "2024-02-20",
    author: "Hedda Brandt",
    teaser: "Sown thinly above a young ley, oats shade the soil, outpace the weeds and pay for the seed of the grass beneath.",
    related: ["rye-on-poor-soil", "porridge-four-ways"],
    blocks: [
      "Grass and clover are slow to start. For the first eight weeks they are little more than green threads, and fat hen or charlock can bury them before they have a fourth leaf. A nurse crop is a quicker companion sown at the same time, which takes the light that weeds would have used and is removed once the small plants can stand alone.",
      "Oats do this better than barley on our ground. The leaf is broad and held loosely, so the shade beneath is dappled rather than dense, and the roots leave moisture in the top hand's breadth of soil. Above all the crop can be cut green at the milky stage and made into good hay, well before it begins to compete in earnest.",
      "Halve the usual rate. Eighty kilograms of oats to the hectare is ample; a full stand will smother the ley it was meant to protect. We drill the oats first, roll, then broadcast the grass mixture on top and roll once more across the rows. Small seed wants to sit in the print of the roller and no deeper.",
      "Watch the weather in June. If rain is plentiful the oats race ahead, and they should be mown as soon as the panicle is clear of the flag leaf. If June is dry, leave them another fortnight, because sudden sun on soft clover scorches it badly.",
      "In a favourable year we take four tonnes of oat hay and still graze the ley in September. In a poor one the oats are topped and left to lie as a mulch. Either way the field goes into winter with a closed sward, and the seed merchant's bill looks less alarming.",
    ],
  },
  {
    slug: "when-to-cut-barley",
    category: "field",
    title: "When to Cut Barley",
    date: "2024-07-08",
    author: "Oona Lahti",
    teaser: "Colour deceives and neighbours hurry; a pocket meter and a bent ear say more about the right morning for the combine.",
    related: ["storing-grain-through-winter", "millet-in-a-dry-summer"],
    blocks: [
      "Each July somebody in the village begins to cut, and within a day every engine along the road is running. It is a poor way to choose a date. Barley ripens from the top of the rise to the hollow over as much as nine days, and the field that looks like brass from the lane may still be cheese at its lower end.",
      "I carry a moisture meter the size of a tin of sardines and take twelve readings along a diagonal, always after eleven o'clock when the dew has gone. The numbers in the table are the ones I act on. They suit a farm that can blow cold air through its grain but owns no heated dryer.",
      {
        type: "table",
        head: ["Moisture", "What the kernel does", "What to do"],
        rows: [
          ["Above 22 per cent", "Dents under a thumbnail", "Wait, and sharpen the knives"],
          ["18 to 22 per cent", "Marks, then springs back", "Cut only if a week of rain is forecast"],
          ["15 to 18 per cent", "Cracks with effort", "Cut and ventilate the same night"],
          ["Below 15 per cent", "Shatters cleanly", "Cut at once and store directly"],
        ],
      },
      "The ear tells its own story as well. In malting types the neck bends gradually until the awns point at the ground, and a crop where nine ears in ten hang like that is ready or nearly so. Leave it a further week and the necks begin to break, and each broken neck is forty kernels for the pigeons.",
      "Maltsters look at germination before anything else. A drum turning too fast skins the grain, and skinned grain dies in the steep. We run at the lowest speed that still clears the awns, open the concave by two notches, and accept a few whiskers in the sample.",
      "If a storm does flatten the crop, do not rush in the next morning. Lodged barley dries from the upper side only, and will lift by a hand's width when the sun has been on it for two days. Cut against the lean, slowly, with the reel set forward, and you will recover most of it.",
    ],
  },
  {
    slug: "millet-in-a-dry-summer",
    category: "field",
    title: "Millet in a Dry Summer",
    date: "2024-08-30",
    author: "Sefa Demir",
    teaser: "Ninety days from sowing to swath on the rain of a single thunderstorm: notes from three trial strips of proso.",
    related: ["when-to-cut-barley", "buckwheat-without-wheat", "storing-grain-through-winter"],
    blocks: [
      "We did not plan to become millet growers. The spring beans failed to emerge in 2022, the ground stood bare at the end of May, and a friend at the seed co-operative had forty kilograms of proso he could not sell. It was sown on the second of June into dust, mostly to keep the thistles company.",
      "Nothing happened for eleven days. Then nineteen millimetres fell in one evening and by the weekend the rows could be seen from the gate. Millet asks for warmth before water, and below twelve degrees the seed merely sulks, but once it moves it grows with a haste that no other cereal in our rotation can match.",
      "Its thrift is remarkable. The leaves roll inward at noon and open again at dusk, and the plant simply stops when the soil is empty and resumes where it left off after a shower. The strip on gravel had sixty-four millimetres in its whole life and still returned fourteen hundred kilograms to the hectare.",
      "Weeds are the real enemy. A millet seedling resembles the wild panic grasses so closely that hoeing is guesswork until the third leaf. A stale seedbed, raked twice in May, did more for us than all the hours spent on our knees in June.",
      "Harvest requires some nerve, for the head ripens from its tip downward and the first grains are falling while the last are green. We swath when two thirds of the panicle is straw coloured, let it lie for five days, and pick it up in the morning when a trace of dew keeps the seed in its husk.",
      "A local mill removes the hulls for us in batches of half a tonne. What comes back is the yellow of egg yolk, cooks in a quarter of an hour, and has found more buyers at the Saturday market than the beans ever did.",
    ],
  },
  {
    slug: "storing-grain-through-winter",
    category: "field",
    title: "Storing Grain through Winter",
    date: "2024-10-11",
    author: "Tomasz Wilk",
    teaser: "Cool, dry and dull: three dull virtues that keep weevils hungry and let a harvest taste of itself in April.",
    related: ["saving-seed-from-landraces", "choosing-a-small-mill"],
    blocks: [
      "A heap of grain is alive. Every kernel breathes a little, giving off warmth and water, and a heap that cannot lose the two will begin to cook itself from the middle. The old farmers thrust an iron rod into the pile, left it for the length of a pipe, and felt it along its length. A thermometer on a stick does the same today.",
      "Begin with cleaning. Chaff, green weed seeds and broken kernels hold twice the moisture of sound grain and gather in the centre beneath the spout. An hour with a borrowed winnower before filling the bin has saved me more barley than any device bought afterwards.",
      "Next comes cooling, and it should be done in steps. On the first frosty night of September I run the fan until the probe falls below fifteen degrees, in October I bring it to ten, and by Christmas to five. Insects cease to breed at fifteen and cease to move at five. Warm air pushed into a cold bin condenses on the grain, so the fan must never run on a mild afternoon.",
      "Mice are discouraged by tin and by tidiness. We nailed a strip of sheet metal around the foot of each door, keep a bare metre of concrete on every side, and hang no sacks on the wall. The barn cat is given credit for the result although she sleeps in the tractor.",
      "Check every second Sunday and note three figures: the temperature at the top, at the middle and by the wall. A rise of two degrees within a fortnight, when the weather has not changed, means a hot spot. Move the grain then and there, even if only from one bin into another, because movement alone breaks the pocket.",
      "Treated in this fashion our wheat loses perhaps one part in two hundred between August and April. It mills cleanly, smells of nuts and hay, and needs no powder or gas to keep it so.",
    ],
  },
  {
    slug: "a-starter-from-wholemeal",
    category: "kitchen",
    title: "A Starter from Wholemeal",
    date: "2023-10-05",
    author: "Marguerite Oyelaran",
    teaser: "Flour, water and six days of patience raise a culture that costs nothing and outlives most kitchen machines.",
    related: ["bread-for-keeping", "baking-with-spelt"],
    blocks: [
      "You need no grapes, no honey and no pinch of somebody else's heirloom. The yeasts and bacteria that raise sourdough are already on the bran, which is why wholemeal flour, and rye above all, gives a starter in half the time that white flour would take.",
      "On the first day stir fifty grams of flour into fifty grams of lukewarm water in a jar that holds at least half a litre. Lay a saucer on top. The paste will look like wet cement and smell of nothing but porridge, and that is as it should be.",
      "The second and third day often bring a false spring. Bubbles appear with great energy and the odour turns to old socks, because leaf bacteria from the field are having their short season. Do not be discouraged, and do not bake with it. Throw away all but a spoonful, feed with the same weights as before, and repeat at about the same hour.",
      "Around the fourth day the jar may fall silent. This is the moment when most people pour it down the drain, and it is exactly when the acid has grown strong enough to hand over the house to the proper tenants. Feed it again. By the sixth morning it should double within five hours and smell of sour apples with a hint of beer.",
      "From then on it is a matter of routine. A starter that lives on the kitchen shelf is fed every day; one that sleeps in the refrigerator is content with a meal a week. I keep forty grams and no more, so nothing has to be discarded, and build it up the evening before I bake.",
      "If you leave it too long a grey liquid will gather on top. Pour it off or stir it in as you prefer. Pink streaks or fur are another matter, and in that case the jar should be boiled and the work begun anew with fresh flour.",
    ],
  },
  {
    slug: "baking-with-spelt",
    category: "kitchen",
    title: "Baking with Spelt & Other Soft Wheats",
    date: "2024-01-17",
    author: "Marguerite Oyelaran",
    teaser: "Spelt dough stretches like toffee and tears like paper; knead it half as long and bake it a little sooner.",
    related: ["a-starter-from-wholemeal", "choosing-a-small-mill", "bread-for-keeping"],
    blocks: [
      "Bakers who come from strong white flour are baffled by their first spelt loaf. The dough feels silky, it rises with enthusiasm, and then it spreads across the oven stone like a dropped egg. Nothing is wrong with the flour. It contains plenty of gluten, but of a kind that stretches readily and does not pull back.",
      "The remedy is restraint. Mix until there is no dry flour, wait twenty minutes, then fold the dough four times with a wet hand. That is all. A machine set to ten minutes will have torn the network to shreds by the sixth, and no resting will mend it.",
      "Water deserves the same caution. Spelt drinks quickly and gives it back later, so a dough that seems firm at the start will be slack after an hour. Hold back a tenth of what the recipe for common wheat would ask for. A spoonful of ground flax or a scald made from a fifth of the flour will bind what remains, and keeps the crumb from going dry on the second day.",
      "Shorten the proof as well. I bake when the loaf has grown by half and a fingertip leaves a dent that fills slowly, and I use a tin for anything above six hundred grams. A tin is no disgrace: the soft walls of the loaf need somebody to lean on.",
      "Einkorn behaves similarly, only more so, and emmer sits between the two. All three reward the trouble with a flavour of hazelnut and warm straw that common wheat lost long ago. Spread with butter and a little salt, the heel of such a loaf is breakfast enough.",
    ],
  },
  {
    slug: "choosing-a-small-mill",
    category: "kitchen",
    title: "Choosing a Small Mill",
    date: "2024-03-26",
    author: "Oona Lahti",
    teaser: "Stone or steel, crank or cord: what two years of loud mornings taught us about grinding flour at home.",
    related: ["storing-grain-through-winter", "baking-with-spelt"],
    blocks: [
      "Fresh flour is the cheapest improvement a home baker can buy, after an oven thermometer. The germ of the grain holds an oil that turns bitter within weeks of grinding, which is why shop wholemeal so often tastes of cardboard. A mill on the counter solves that, and brings with it noise, dust and the question of where to put the thing.",
      "Stone mills rub the kernel between two discs of corundum set in ceramic. They give a fine, even flour with soft flakes of bran, and they tolerate almost everything except oily seeds, which glaze the face. A glazed stone is cleaned by running a cup of dry rice through it on a coarse setting.",
      "Steel burrs are cheaper and do not mind flax or coffee. The flour is a trifle grittier and warmer to the touch, and the cutting edges grow dull after a few hundred kilograms. Impact mills, which fling the grain against pins at a terrible speed, are quick and very fine but as loud as a circular saw.",
      "Heat is the usual worry and mostly an idle one. We measured flour at forty-one degrees from a stone mill after two kilograms without pause, and the bread was no different from that made with flour ground at a crawl. Let it cool for a quarter of an hour before mixing and forget about it.",
      "Buy by throughput and by hopper. A family that bakes twice a week uses about three kilograms of grain, and a motor of three hundred and sixty watts will manage that in half an hour. Hand cranks are charming for the first pound; after that they are exercise.",
      "Whatever you choose, sort the grain on a tray before it goes in. One pebble the size of a lentil will chip a stone that should have lasted a lifetime, and there is at least one pebble in every sack.",
    ],
  },
  {
    slug: "porridge-four-ways",
    category: "kitchen",
    title: "Porridge Four Ways",
    date: "2024-11-19",
    author: "Sefa Demir",
    teaser: "One saucepan and four grains, from a ten-minute oat breakfast to barley that simmers while the house is asleep.",
    related: ["oats-as-a-nurse-crop", "millet-in-a-dry-summer"],
    blocks: [
      "Porridge was the daily food of half a continent long before anyone thought of baking, and it deserves better than a sachet. The method hardly varies. Toast the grain in a dry pan until the kitchen smells of biscuits, add hot water and salt, lower the flame and stir when you remember to.",
      "What does vary is the ratio and the hour. Those below are by volume, for two hungry people, and come from a notebook whose pages are stuck together at this very place.",
      {
        type: "ul",
        items: [
          "Rolled oats: one cup to two and a half of water, ten minutes, finished with a knob of butter and brown sugar.",
          "Cracked rye: one cup to three of water, forty minutes, with dried plums added at the half-way mark.",
          "Hulled millet: one cup to three of milk, twenty minutes under a lid, then rested until it can be cut with a spoon.",
          "Pot barley: one cup to five of water, overnight in the lowest oven, eaten with cream and a pinch of caraway.",
        ],
      },
      "Salt goes in at the beginning with oats and at the end with barley, where it would toughen the skin. Millet must be rinsed under hot water first because the dust of the hull is bitter. Rye wants a wide pan, since it foams like a mountain stream in the opening minutes.",
      "Leftovers are half the pleasure. Press the cold porridge into a shallow dish, chill it, slice it as thick as a thumb and fry the slices in lard until a crust forms. My aunt served them with fried onions and sour cucumber, and refused to call the result anything but supper.",
      "A final word on milk. Boiled from the start it catches on the bottom and scorches; stirred in off the heat it keeps its sweetness. If you must use an oat drink, choose one without added oil, or the bowl will look like a puddle beside a garage.",
    ],
  },
  {
    slug: "buckwheat-without-wheat",
    category: "kitchen",
    title: "Buckwheat without Wheat",
    date: "2025-02-06",
    author: "Marguerite Oyelaran",
    teaser: "A cousin of rhubarb with no gluten at all can still make a loaf, if you let it ferment and forget about kneading.",
    related: ["millet-in-a-dry-summer", "a-starter-from-wholemeal"],
    blocks: [
      "Buckwheat is no grass and its seed is no true grain, but it has been stored, milled and eaten beside the cereals for so long that the distinction interests only botanists. In the kitchen its chief peculiarity is that it holds together by starch alone. There is nothing to knead, and nothing is gained by trying.",
      "The simplest loaf starts with whole raw groats, the pale green kind. Soak four hundred grams of them overnight, drain without rinsing, and blend with two hundred millilitres of water and a small spoon of salt until the batter pours like thick cream. The slime that would be washed off in other recipes is what traps the gas in this one.",
      "Leave the bowl in a warm corner for a full day. Wild yeast arrives of its own accord and by the next evening the batter is domed and pocked like the moon. Tip it gently into a lined tin, because any stirring now lets out what took a day to collect, and bake at 180 °C for an hour and a half.",
      "Roasted groats, sold as kasha, will not do. They have been cooked already, refuse to ferment, and taste of campfire. Keep them for pilaf, where that same campfire is welcome next to mushrooms and a fried egg.",
      "For pancakes in the Breton manner use the flour instead, with water, salt and not much else, and give the batter two hours to thicken. The pan should be hot enough that a drop dances. Spread thinly, wait until the edges lift by themselves, and turn once.",
      "The bread keeps for four days in a cloth. It is dense, moist and faintly earthy, and when toasted it acquires a crust like crème brûlée, which nobody expects from something made of soaked seeds and time.",
    ],
  },
  {
    slug: "bread-for-keeping",
    category: "kitchen",
    title: "Bread for Keeping",
    date: "2025-03-22",
    author: "Hedda Brandt",
    teaser: "Before freezers there was the three-week loaf: sour, dark, baked slowly, and better on Thursday than on Monday.",
    related: ["rye-on-poor-soil", "a-starter-from-wholemeal", "baking-with-spelt"],
    blocks: [
      "In my grandmother's house bread was baked every third Friday. Eleven loaves of four pounds each went into the brick oven together, and the last of them was cut twenty days later, firm, fragrant and without a trace of mould. It was no miracle. Three habits made it possible, and all of them work in a modern kitchen.",
      "The first is acid. A rye sour that has stood for sixteen hours in a cool room carries enough acetic sharpness to hold back the moulds for weeks. The starter should make up a third of the dough, and it should be sour enough that you make a face when you taste it.",
      "The second is scalded meal. Pour boiling water over a quarter of the rye and let it stand beneath a cloth until the morning. The starch swells and grips that water so tightly that it does not leave again, neither in the oven nor in the bread box, and a loaf which holds its moisture does not go stale.",
      "The third is a slow, falling oven. We begin at 260 degrees for the first quarter of an hour, so the crust is sealed and thick, and then let it sink to 170 over the following hour and three quarters. The inside has to reach ninety-eight degrees. A loaf taken out at ninety-four will be gummy for ever.",
      "Then comes the hardest part, which is to leave it alone. Wrapped in linen, a rye loaf needs a day and a half before the crumb has set, and its flavour does not come together until the fourth. Cut it earlier and the knife drags a paste behind it.",
      "Keep the loaf standing upon its cut face on a wooden board in a room that is neither heated nor damp. Plastic is for people who enjoy mould. When at last the heel is too hard for teeth, grate it over stewed apples, or soak it in beer for soup, as was done on the evening before the oven was lit again.",
    ],
  },
];

export const siteName = "Grain Almanac";

const months = ["January", "February", "March", "April", "May", "June", "July",
  "August", "September", "October", "November", "December"];
const longDate = (iso) => {
  const [y, m, d] = iso.split("-").map(Number);
  return `${d} ${months[m - 1]} ${y}`;
};
const bySlug = new Map(articles.map((a) => [a.slug, a]));
const href = (slug) => `/articles/${slug}`;
const link = (slug) => ({ href: href(slug), title: bySlug.get(slug).title });
const teaser = (a) => ({ href: href(a.slug), title: a.title, teaser: a.teaser });
const p = (text) => ({ type: "p", text });
const newestFirst = [...articles].sort((a, b) => (a.date < b.date ? 1 : -1));

// What /data/articles/SLUG.json holds.
export const articlePages = articles.map((a) => ({
  path: href(a.slug),
  slug: a.slug,
  title: a.title,
  byline: `By ${a.author}, ${longDate(a.date)}`,
  blocks: a.blocks.map((b) => (typeof b === "string" ? p(b) : b)),
  related: a.related.map(link),
}));

const categoryPage = (slug, title, intro) => ({
  path: `/categories/${slug}`,
  title,
  blocks: [
    p(intro),
    { type: "teasers", items: newestFirst.filter((a) => a.category === slug).map(teaser) },
  ],
});

// What /data/index.json holds: the pages that are no articles, by path.
export const listPages = {
  "/": {
    path: "/",
    title: "Notes from Field and Oven",
    blocks: [
      p("The Grain Almanac is a quiet journal about the plants that feed us: how they are grown on ordinary farms, how the harvest is kept, and what becomes of it in an ordinary kitchen. It is written by people with flour under their nails and appears whenever one of them has something to say."),
      p("You will find no miracle yields and no secret recipes here. We report what we tried, what it cost and whether we would do it again, and we are glad to print a correction when a reader knows better."),
      { type: "h2", text: "Newest entries" },
      { type: "teasers", items: newestFirst.slice(0, 5).map(teaser) },
    ],
  },
  "/categories/field": categoryPage("field", "In the Field",
    "Sowing, tending, cutting and storing: observations from four small farms between the river meadows and the dry ridge, where no two fields agree about the proper week for anything."),
  "/categories/kitchen": categoryPage("kitchen", "In the Kitchen",
    "Mills, starters, loaves and bowls. Everything in this section has been cooked at least three times by two different people, and eaten without complaint by at least one child."),
  "/about": {
    path: "/about",
    title: "About the Almanac",
    blocks: [
      p("The almanac began in the winter of 2019 as a duplicated sheet that went round the seed co-operative with the invoices. Readers wrote in the margins and sent it back, the margins became longer than the sheet, and by the following harvest there was nothing for it but to start a proper journal."),
      p("Five of us write it. Hedda Brandt farms eighteen hectares of sand, Tomasz Wilk keeps a collection of old cereals, Oona Lahti grows malting barley, Sefa Demir runs trials for dry places and Marguerite Oyelaran bakes for a living. None of us is paid for these pages."),
      p("We take no advertising and accept no samples. The costs, which amount to a little less than a sack of good rye each month, are met by the annual threshing supper and by the sale of the printed calendar."),
      p("Letters are welcome, most of all those that disagree. We answer in the evenings, more quickly when it rains."),
    ],
  },
};

// The parts that are the same on every page.
export const template = {
  name: siteName,
  tagline: "A journal of grains, ovens and weather since 2019",
  nav: [
    { href: "/", title: "Home" },
    { href: "/categories/field", title: "Field" },
    { href: "/categories/kitchen", title: "Kitchen" },
    { href: "/about", title: "About" },
    link("rye-on-poor-soil"),
    link("bread-for-keeping"),
    link("when-to-cut-barley"),
  ],
  popularTitle: "Popular this season",
  popular: [
    link("a-starter-from-wholemeal"),
    link("porridge-four-ways"),
    link("choosing-a-small-mill"),
    link("millet-in-a-dry-summer"),
    link("storing-grain-through-winter"),
  ],
  relatedTitle: "Related entries",
  footer: [
    "Grain Almanac, Old Granary, 7 Threshing Lane, Lower Marsh",
    "Imprint: published by the Lower Marsh Seed Co-operative, register number 4471, responsible editor Hedda Brandt.",
    "Copyright 2019 to 2025 by the authors. Recipes may be copied by hand.",
    "Subscribe to our newsletter and receive one letter each month, never more, with the sowing dates and a recipe.",
  ],
};

export const pages = [...Object.values(listPages), ...articlePages];

export const documentTitle = (page) =>
  page.path === "/" ? siteName : `${page.title} - ${siteName}`;

const blockText = (b) => {
  if (b.type === "ul") return b.items;
  if (b.type === "table") return [b.head, ...b.rows].flat();
  if (b.type === "teasers") return b.items.flatMap((i) => [i.title, i.teaser]);
  return [b.text];
};
const single = (list) => list.join(" ").replace(/\s+/g, " ").trim();

export const mainText = (page) =>
  single([page.title, page.byline ?? "", ...page.blocks.flatMap(blockText)]);

// In the order of the document: header, nav, related box, sidebar, footer.
export const templateText = (page) => {
  const titles = (links) => links.map((l) => l.title);
  return single([
    template.name, template.tagline, ...titles(template.nav),
    ...(page.related ? [template.relatedTitle, ...titles(page.related)] : []),
    template.popularTitle, ...titles(template.popular),
    ...template.footer,
  ]);
};

export const truth = pages.map((page) => ({
  path: page.path,
  title: documentTitle(page),
  main: mainText(page),
  template: templateText(page),
}));
